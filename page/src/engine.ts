// Requests to the learner as bytes, and the learner as a WebAssembly module (crates/homolog-wasm) for a page that no program serves. The
// requests are those of `labelling::Session` in the library.

/** A request as the learner reads it: the length of the JSON, the JSON, the grey levels of a picture if it needs them. */
export function framed(request: object, pixels: Uint8Array = new Uint8Array()): Uint8Array<ArrayBuffer> {
  const json = new TextEncoder().encode(JSON.stringify(request));
  const bytes = new Uint8Array(4 + json.length + pixels.length);
  new DataView(bytes.buffer).setUint32(0, json.length, true);
  bytes.set(json, 4);
  bytes.set(pixels, 4 + json.length);
  return bytes;
}

/** What was answered; throws what went wrong, in words for a person. */
export function opened(text: string): unknown {
  const { ok, error } = JSON.parse(text) as { ok?: unknown; error?: string };
  if (error !== undefined) throw new Error(error);
  return ok;
}

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

  ask(request: object, pixels?: Uint8Array): unknown {
    const bytes = framed(request, pixels);
    const at = this.exports.reserve(bytes.length);
    if (at === 0) throw new Error('too large for the learner');
    new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
    const answered = this.exports.call();
    return opened(new TextDecoder().decode(new Uint8Array(this.exports.memory.buffer, this.exports.reserve(0), answered)));
  }
}
