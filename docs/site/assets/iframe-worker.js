// The search runs in a worker. Browsers start none for a page that was opened from a disk; there a hidden frame takes its place.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inner = frame.contentWindow;
      const page = frame.contentDocument;
      const load = (source) =>
        new Promise((resolve, reject) => {
          const script = page.createElement("script");
          script.src = source;
          script.onload = resolve;
          script.onerror = reject;
          page.body.append(script);
        });
      this.inner.importScripts = (...sources) => sources.reduce((before, source) => before.then(() => load(source)), Promise.resolve());
      this.inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.loaded = load(url);
    }
    postMessage(data) {
      this.loaded.then(() => this.inner.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {
      this.inner.frameElement.remove();
    }
  };
  window.Worker = window.IFrameWorker;
}
