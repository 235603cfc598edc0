// The learner: the WebAssembly module of crates/homolog-wasm. A request goes in as JSON (with the pixels of a picture where it needs
// them), the answer comes out as JSON. The same code runs in the worker and in the tests.

interface Exports {
  memory: WebAssembly.Memory;
  reserve(length: number): number;
  call(): number;
}

export class Engine {
  private readonly exports: Exports;

  constructor(module: WebAssembly.Module) {
    this.exports = new WebAssembly.Instance(module, {}).exports as unknown as Exports;
  }

  /** Answers one request; throws what went wrong, in words for a person. */
  ask(request: object, pixels: Uint8Array = new Uint8Array()): unknown {
    const json = new TextEncoder().encode(JSON.stringify(request));
    const length = 4 + json.length + pixels.length;
    const at = this.exports.reserve(length);
    if (at === 0) throw new Error('that is too large for the learner');
    const bytes = new Uint8Array(this.exports.memory.buffer, at, length);
    new DataView(bytes.buffer, at).setUint32(0, json.length, true);
    bytes.set(json, 4);
    bytes.set(pixels, 4 + json.length);
    const answered = this.exports.call();
    const answer = new Uint8Array(this.exports.memory.buffer, this.exports.reserve(0), answered);
    const { ok, error } = JSON.parse(new TextDecoder().decode(answer)) as { ok?: unknown; error?: string };
    if (error !== undefined) throw new Error(error);
    return ok;
  }
}
