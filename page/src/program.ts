// The learner of the program that serves this page: requests go to `homolog label`, which answers with the library it is made of.

import { framed, opened } from './engine';
import type { Channel } from './learner';

/** Sends a request, until told to stop. */
export type Send = (body: Uint8Array<ArrayBuffer>, signal: AbortSignal) => Promise<Response>;

export class ProgramChannel implements Channel {
  onmessage: Channel['onmessage'] = null;
  private readonly ending = new AbortController();
  /** One after the other: a model is there before it is used. */
  private last: Promise<void> = Promise.resolve();

  constructor(private readonly send: Send) {}

  postMessage(message: { id: number; request: object; pixels?: Uint8Array }): void {
    this.last = this.last.then(() => this.answer(message)).then((data) => this.onmessage?.({ data }));
  }

  /** Hangs up: the program stops working on it. */
  terminate(): void {
    this.ending.abort();
  }

  private async answer({ id, request, pixels }: { id: number; request: object; pixels?: Uint8Array }): Promise<object> {
    try {
      const response = await this.send(framed(request, pixels), this.ending.signal);
      return { id, ok: opened(await response.text()) };
    } catch (error) {
      const lost = error instanceof TypeError;
      return { id, error: lost ? '`homolog label` does not answer; start it again' : (error as Error).message };
    }
  }
}
