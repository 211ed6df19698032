// A decoder of Llama's shape in C++, without Python: reads config.json and safetensors files, writes the likeliest
// tokens.
//
//   decoder kernels.py FOLDER COUNT TOKEN...
//
// prints COUNT tokens that follow those given, and to the standard error how long that took. The kernels are those of
// kernels.py, compiled for this machine when they are first launched. All tokens of the prompt go through the model
// together, then one at a time.
#include "safetensors.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nacre/nacre.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using llm::Json;
using llm::Tensor;

struct Config {
  int vocabulary, width, innerWidth, layers, heads, keyHeads, headSize;
  double epsilon, rotaryBase;
  bool hasTiedOutput;

  explicit Config(const Json &json) {
    auto integer = [&](const char *name) { return static_cast<int>(json[name].number()); };
    if (json.has("model_type") && json["model_type"].string() != "llama")
      throw std::runtime_error("the model is a " + json["model_type"].string() + "; llama is supported");
    vocabulary = integer("vocab_size");
    width = integer("hidden_size");
    innerWidth = integer("intermediate_size");
    layers = integer("num_hidden_layers");
    heads = integer("num_attention_heads");
    keyHeads = json.has("num_key_value_heads") ? integer("num_key_value_heads") : heads;
    headSize = json.has("head_dim") ? integer("head_dim") : width / heads;
    epsilon = json["rms_norm_eps"].number();
    hasTiedOutput = json.has("tie_word_embeddings") && json["tie_word_embeddings"].boolean();
    for (const char *name : {"rope_scaling", "rope_parameters"})
      if (json.has(name) && json[name].has("rope_type") && json[name]["rope_type"].string() != "default")
        throw std::runtime_error("rope_type " + json[name]["rope_type"].string() + " is not supported; default is");
    rotaryBase = json.has("rope_theta") ? json["rope_theta"].number() : json["rope_parameters"]["rope_theta"].number();
  }
};

struct Kernels {
  nacre::KernelSource source;
  nacre::KernelHandle embed, addAndNormalize, product, productOfRow, turn, attend, gated, largestOf;

  explicit Kernels(const std::string &path)
      : source(nacre::KernelSource::fromFile(path)), embed(source.kernel("embed")),
        addAndNormalize(source.kernel("add_and_normalize")), product(source.kernel("product")),
        productOfRow(source.kernel("product_of_row")), turn(source.kernel("turn")), attend(source.kernel("attend")),
        gated(source.kernel("gated")), largestOf(source.kernel("largest_of")) {}
};

nacre::Argument argument(const Tensor &tensor) { return {tensor.elementType.c_str(), tensor.data}; }

uint32_t blocks(int count, int block) { return static_cast<uint32_t>((count + block - 1) / block); }

int powerOfTwo(int value) {
  int result = 1;
  while (result < value)
    result *= 2;
  return result;
}

class Decoder {
public:
  Decoder(const std::string &kernelFile, const std::string &folder, int positions)
      : config(Json::parse(llm::readFile(folder + "/config.json"))), kernels(kernelFile), positions(positions) {
    for (const auto &entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".safetensors")
        files.emplace_back(entry.path().string());
    const int keyWidth = config.keyHeads * config.headSize, queryWidth = config.heads * config.headSize;
    embedding = weight("model.embed_tokens", {config.vocabulary, config.width});
    for (int index = 0; index < config.layers; ++index) {
      auto named = [&, index](const std::string &name, std::vector<int64_t> shape) {
        return weight("model.layers." + std::to_string(index) + "." + name, std::move(shape));
      };
      layers.push_back(
          {named("input_layernorm", {config.width}), named("self_attn.q_proj", {queryWidth, config.width}),
           named("self_attn.k_proj", {keyWidth, config.width}), named("self_attn.v_proj", {keyWidth, config.width}),
           named("self_attn.o_proj", {config.width, queryWidth}), named("post_attention_layernorm", {config.width}),
           named("mlp.gate_proj", {config.innerWidth, config.width}),
           named("mlp.up_proj", {config.innerWidth, config.width}),
           named("mlp.down_proj", {config.width, config.innerWidth}),
           Values(static_cast<size_t>(positions) * static_cast<size_t>(keyWidth)),
           Values(static_cast<size_t>(positions) * static_cast<size_t>(keyWidth))});
    }
    norm = weight("model.norm", {config.width});
    output = config.hasTiedOutput ? embedding : weight("lm_head", {config.vocabulary, config.width});
    makeRotaryTables();
  }

  // The likeliest token after these, the first of which stands at position `first`: all before have been given earlier.
  int next(const std::vector<int> &tokens, int first) {
    for (int token : tokens)
      if (token < 0 || token >= config.vocabulary)
        throw std::runtime_error("the model has no token " + std::to_string(token));
    const int rows = static_cast<int>(tokens.size());
    const uint32_t count = static_cast<uint32_t>(rows);
    Values stream = rowsOf(rows, config.width), branch = rowsOf(rows, config.width),
           normal = rowsOf(rows, config.width);
    kernels.embed.launch({count}, argument(embedding), tokens.data(), stream.data(), nacre::constexprInt(config.width));
    bool isFirst = true;
    for (Layer &layer : layers) {
      normalize(rows, stream, isFirst ? nullptr : &branch, layer.inputNorm, normal);
      attention(rows, first, layer, normal, branch);
      normalize(rows, stream, &branch, layer.outputNorm, normal);
      gatedLayer(rows, layer, normal, branch);
      isFirst = false;
    }
    normalize(rows, stream, &branch, norm, normal);
    Values last(normal.end() - config.width, normal.end()), logits = rowsOf(1, config.vocabulary);
    multiply(1, config.width, config.vocabulary, last.data(), output, logits.data());
    int token = 0;
    kernels.largestOf.launch({1}, logits.data(), &token, config.vocabulary, nacre::constexprInt(1024));
    return token;
  }

private:
  using Values = std::vector<float>;

  struct Layer {
    Tensor inputNorm, query, key, value, attentionOutput, outputNorm, gate, up, down;
    Values keys, values; // (positions, key heads, size of a head)
  };

  static Values rowsOf(int rows, int width) { return Values(static_cast<size_t>(rows) * static_cast<size_t>(width)); }

  Tensor weight(const std::string &name, std::vector<int64_t> shape) const {
    for (const llm::TensorFile &file : files) {
      auto found = file.tensors.find(name + ".weight");
      if (found == file.tensors.end())
        continue;
      if (found->second.shape != shape)
        throw std::runtime_error(name + ".weight has another shape than config.json says");
      return found->second;
    }
    throw std::runtime_error("the files have no " + name + ".weight");
  }

  // cos and sin of every position and pair, (positions, size of a head / 2).
  void makeRotaryTables() {
    const int pairs = config.headSize / 2;
    for (int position = 0; position < positions; ++position)
      for (int pair = 0; pair < pairs; ++pair) {
        double angle = position * std::pow(config.rotaryBase, -2.0 * pair / config.headSize);
        cosines.push_back(static_cast<float>(std::cos(angle)));
        sines.push_back(static_cast<float>(std::sin(angle)));
      }
  }

  void normalize(int rows, Values &stream, const Values *branch, const Tensor &scale, Values &out) {
    kernels.addAndNormalize.launch({static_cast<uint32_t>(rows)}, stream.data(),
                                   branch ? branch->data() : stream.data(), argument(scale), out.data(),
                                   static_cast<float>(config.epsilon), nacre::constexprBool(branch != nullptr),
                                   nacre::constexprInt(config.width));
  }

  // out = x @ weight.T
  void multiply(int rows, int inner, int columns, const float *x, const Tensor &weight, float *out) {
    if (rows == 1) {
      kernels.productOfRow.launch({blocks(columns, 8)}, x, argument(weight), out, columns, nacre::constexprInt(8),
                                  nacre::constexprInt(std::min(512, powerOfTwo(inner))), nacre::constexprInt(inner));
      return;
    }
    const int blockM = std::min(64, powerOfTwo(rows)), blockN = 64;
    kernels.product.launch({blocks(columns, blockN), blocks(rows, blockM)}, x, argument(weight), out, rows, columns,
                           nacre::constexprInt(blockM), nacre::constexprInt(blockN), nacre::constexprInt(64),
                           nacre::constexprInt(inner));
  }

  void attention(int rows, int first, Layer &layer, const Values &normal, Values &branch) {
    const int size = config.headSize, queryWidth = config.heads * size, keyWidth = config.keyHeads * size;
    const uint32_t count = static_cast<uint32_t>(rows);
    Values queries = rowsOf(rows, queryWidth), turned = rowsOf(rows, queryWidth), keys = rowsOf(rows, keyWidth);
    const size_t place = static_cast<size_t>(first) * static_cast<size_t>(keyWidth);
    multiply(rows, config.width, queryWidth, normal.data(), layer.query, queries.data());
    multiply(rows, config.width, keyWidth, normal.data(), layer.key, keys.data());
    multiply(rows, config.width, keyWidth, normal.data(), layer.value, layer.values.data() + place);
    auto turn = [&](const Values &x, float *out, int heads) {
      kernels.turn.launch({count}, x.data(), cosines.data(), sines.data(), out, first, nacre::constexprInt(heads),
                          nacre::constexprInt(size / 2));
    };
    turn(queries, turned.data(), config.heads);
    turn(keys, layer.keys.data() + place, config.keyHeads);
    kernels.attend.launch({count, static_cast<uint32_t>(config.heads)}, turned.data(), layer.keys.data(),
                          layer.values.data(), queries.data(), first, 1 / std::sqrt(static_cast<float>(size)),
                          nacre::constexprInt(config.heads), nacre::constexprInt(config.keyHeads),
                          nacre::constexprInt(size), nacre::constexprInt(64));
    multiply(rows, queryWidth, config.width, queries.data(), layer.attentionOutput, branch.data());
  }

  void gatedLayer(int rows, const Layer &layer, const Values &normal, Values &branch) {
    Values gate = rowsOf(rows, config.innerWidth), up = rowsOf(rows, config.innerWidth);
    multiply(rows, config.width, config.innerWidth, normal.data(), layer.gate, gate.data());
    multiply(rows, config.width, config.innerWidth, normal.data(), layer.up, up.data());
    const int count = rows * config.innerWidth;
    kernels.gated.launch({blocks(count, 1024)}, gate.data(), up.data(), gate.data(), count, nacre::constexprInt(1024));
    multiply(rows, config.innerWidth, config.width, gate.data(), layer.down, branch.data());
  }

  Config config;
  Kernels kernels;
  int positions;
  std::vector<llm::TensorFile> files;
  Tensor embedding, norm, output;
  std::vector<Layer> layers;
  Values cosines, sines;
};

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void run(int argc, char **argv) {
  if (argc < 5)
    throw std::runtime_error("usage: decoder kernels.py FOLDER COUNT TOKEN...");
  const int count = std::stoi(argv[3]);
  std::vector<int> tokens;
  for (int index = 4; index < argc; ++index)
    tokens.push_back(std::stoi(argv[index]));
  Decoder decoder(argv[1], argv[2], static_cast<int>(tokens.size()) + count);
  int position = 0;
  double start = seconds(), afterFirst = start;
  for (int written = 0; written < count; ++written) {
    int token = decoder.next(tokens, position);
    std::printf(written ? " %d" : "%d", token);
    position += static_cast<int>(tokens.size());
    tokens = {token};
    if (written == 0)
      afterFirst = seconds();
  }
  std::printf("\n");
  if (count > 1)
    std::fprintf(stderr, "first token after %.1f ms, then %.1f tokens/s\n", 1000 * (afterFirst - start),
                 (count - 1) / (seconds() - afterFirst));
}

} // namespace

int main(int argc, char **argv) {
  try {
    run(argc, argv);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
