// Runs the learner away from the page, so that the page never waits for it.

import { Engine } from './engine';

let engine: Engine | undefined;

self.onmessage = (event: MessageEvent) => {
  const { module, id, request, pixels } = event.data;
  if (module !== undefined) {
    engine = new Engine(module);
    return;
  }
  try {
    postMessage({ id, ok: engine!.ask(request, pixels) });
  } catch (error) {
    // A trap leaves the module in an unknown state: the page starts another one.
    const fatal = error instanceof WebAssembly.RuntimeError;
    const reason = fatal ? 'the learner stopped; please report this' : String((error as Error).message);
    postMessage({ id, error: reason, fatal });
  }
};
