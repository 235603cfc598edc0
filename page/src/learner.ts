// The page's side of the learner: lanes of requests, each with a channel of its own, to the program or to a worker. In a lane the newest
// request of a kind cancels the older one of that kind; if that is running already, its channel is closed and another opened.

export interface Channel {
  postMessage(message: object): void;
  terminate(): void;
  onmessage: ((event: { data: any }) => void) | null;
}

/** Thrown to whoever waits for a request that a newer one has replaced. */
export class Superseded extends Error {}

export interface NamedModel {
  name: string;
  model: string;
}

/** So many models are not sent again; the other end keeps more. */
const SENT = 2;
/** The number of a message that no one waits for. */
const KEEP = 0;

interface Job {
  readonly id: number;
  readonly kind: string;
  readonly message: object;
  readonly model: NamedModel | undefined;
  resolve(value: any): void;
  reject(error: Error): void;
}

export class Lane {
  private channel: Channel | null = null;
  private running: Job | null = null;
  private waiting: Job[] = [];
  private count = 0;
  /** The models that the other end of the channel has, the newest last. */
  private sent: string[] = [];

  constructor(private readonly open: () => Channel) {}

  /** Whether it is at work. */
  get busy(): boolean {
    return this.running !== null;
  }

  /** Asks the learner. An older request of the same kind is cancelled; without a kind nothing is. A request that names a model brings it:
   * it is sent only if the other end does not have it. */
  ask<T>(kind: string | null, request: object, { pixels, model }: { pixels?: Uint8Array; model?: NamedModel } = {}): Promise<T> {
    this.count += 1;
    const id = this.count;
    return new Promise<T>((resolve, reject) => {
      if (kind !== null) this.cancel(kind);
      const message = pixels ? { id, request, pixels } : { id, request };
      this.waiting.push({ id, kind: kind ?? `#${id}`, message, model, resolve, reject });
      this.next();
    });
  }

  /** Gives up the request of a kind, if there is one. */
  cancel(kind: string): void {
    const old = this.waiting.filter((job) => job.kind === kind);
    this.waiting = this.waiting.filter((job) => job.kind !== kind);
    if (this.running?.kind === kind) {
      old.push(this.running);
      this.running = null;
      this.close();
    }
    for (const job of old) job.reject(new Superseded());
  }

  private close(): void {
    this.channel?.terminate();
    this.channel = null;
    this.sent = [];
  }

  private next(): void {
    if (this.running !== null) return;
    const job = this.waiting.shift();
    if (job === undefined) return;
    this.running = job;
    const channel = (this.channel ??= this.open());
    channel.onmessage = ({ data }) => {
      if (this.channel !== channel || this.running === null) return;
      if (data.id === KEEP && !data.fatal) return;
      if (data.broken || data.id === KEEP) data = { id: this.running.id, error: 'the learner could not be started', fatal: true };
      if (data.id !== this.running.id) return;
      const done = this.running;
      this.running = null;
      if (data.fatal) this.close();
      if (data.error === undefined) done.resolve(data.ok);
      else done.reject(new Error(data.error));
      this.next();
    };
    if (job.model !== undefined && !this.sent.includes(job.model.name)) {
      this.sent = [...this.sent.slice(1 - SENT), job.model.name];
      channel.postMessage({ id: KEEP, request: { keep: { model: job.model.model } } });
    }
    channel.postMessage(job.message);
  }
}

/** Unpacks the learner that is inside a static page. */
export async function unpack(packed: string): Promise<WebAssembly.Module> {
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}
