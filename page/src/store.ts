// Where a project is kept: with the server of `homolog label`, or in this browser alone for files that were dropped in.

import type { DataSet, Found } from './data';
import type { Entry } from './state';

/** Someone else has written in the meantime. */
export class Conflict extends Error {}

export interface Store {
  /** What to call the place in messages. */
  readonly place: string;
  entries(): Promise<Entry[]>;
  /** Keeps one more entry, for somebody who has seen `seen` of them. It is on the disk when this returns. */
  append(entry: Entry, seen: number): Promise<void>;
  picture(number: number): Promise<Blob>;
  /** Writes a result; says where it went. */
  write(name: string, text: string, seen: number): Promise<string>;
}

export class ServerStore implements Store {
  place = 'the project folder';

  constructor(
    private readonly token: string,
    private readonly origin = '',
  ) {}

  async project(): Promise<{ title: string; specimens: Found[]; data: DataSet | null; files: string }> {
    const project = await (await this.fetch('project')).json();
    this.place = project.files;
    return project;
  }

  async entries(): Promise<Entry[]> {
    return (await (await this.fetch('journal')).json()).entries;
  }

  async append(entry: Entry, seen: number): Promise<void> {
    await this.fetch('journal', 'POST', entry, seen);
  }

  async picture(number: number): Promise<Blob> {
    return (await this.fetch(`pictures/${number}`)).blob();
  }

  async write(name: string, text: string, seen: number): Promise<string> {
    return (await (await this.fetch(`files/${name}`, 'PUT', { text }, seen)).json()).path;
  }

  /** Asks the learner of the program. */
  ask(lane: 'quick' | 'slow', body: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<Response> {
    return this.send(`ask/${lane}`, { method: 'POST', body, signal, headers: { 'Content-Type': 'application/octet-stream' } });
  }

  private fetch(path: string, method = 'GET', body?: object, seen?: number): Promise<Response> {
    const headers: Record<string, string> = {};
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    if (seen !== undefined) headers['If-Match'] = `"${seen}"`;
    return this.send(path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  }

  private async send(path: string, request: RequestInit & { headers: Record<string, string> }): Promise<Response> {
    const headers = { ...request.headers, Authorization: `Bearer ${this.token}` };
    const response = await fetch(`${this.origin}/api/${path}`, { ...request, headers });
    if (response.status === 412) throw new Conflict();
    if (response.ok) return response;
    const text = await response.text();
    let reason = text;
    try {
      reason = JSON.parse(text).error ?? text;
    } catch {
      // An answer in plain text says it itself.
    }
    throw new Error(reason || `the server answered ${response.status}`);
  }
}

/** Keeps the journal in this browser, and gives results as downloads. */
export class BrowserStore implements Store {
  readonly place = 'your downloads';
  private readonly key: string;

  constructor(
    title: string,
    private readonly pictures: ReadonlyArray<Blob | undefined>,
    private readonly keep: Pick<globalThis.Storage, 'getItem' | 'setItem'>,
    private readonly download: (name: string, text: string) => void,
  ) {
    this.key = `homolog journal of ${title}`;
  }

  async entries(): Promise<Entry[]> {
    const text = this.keep.getItem(this.key) ?? '';
    return text.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as Entry);
  }

  async append(entry: Entry, seen: number): Promise<void> {
    const text = this.keep.getItem(this.key) ?? '';
    if (text.split('\n').length - 1 !== seen) throw new Conflict();
    try {
      this.keep.setItem(this.key, `${text}${JSON.stringify(entry)}\n`);
    } catch {
      throw new Error('the storage of this browser is full; export your results');
    }
  }

  async picture(number: number): Promise<Blob> {
    const picture = this.pictures[number];
    if (picture === undefined) throw new Error('there is no picture');
    return picture;
  }

  async write(name: string, text: string): Promise<string> {
    this.download(name, text);
    return name;
  }
}
