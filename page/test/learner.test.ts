import { describe, expect, test } from 'vitest';
import { type Channel, Lane, Superseded } from '../src/learner';

/** Channels that answer when told to. */
class FakeChannel implements Channel {
  onmessage: Channel['onmessage'] = null;
  sent: any[] = [];
  ended = false;
  postMessage(message: object) {
    this.sent.push(message);
  }
  terminate() {
    this.ended = true;
  }
  answer(ok: unknown, n = this.sent.length - 1) {
    this.onmessage?.({ data: { id: this.sent[n].id, ok } });
  }
}

function lane() {
  const channels: FakeChannel[] = [];
  const open = () => {
    channels.push(new FakeChannel());
    return channels.at(-1)!;
  };
  return { lane: new Lane(open), channels };
}

describe('a lane', () => {
  test('answers one after the other', async () => {
    const { lane: it, channels } = lane();
    const [a, b] = [it.ask('a', {}), it.ask('b', {})];
    expect(channels[0]!.sent.length).toBe(1);
    channels[0]!.answer(1);
    channels[0]!.answer(2);
    expect([await a, await b]).toEqual([1, 2]);
    expect(channels.length).toBe(1);
  });

  test('the newest request cancels the older of its kind, running or not', async () => {
    const { lane: it, channels } = lane();
    const running = it.ask('learn', { n: 1 });
    const other = it.ask('detect', {});
    const waiting = it.ask('learn', { n: 2 });
    await expect(running).rejects.toThrow(Superseded);
    expect(channels[0]!.ended).toBe(true);
    const newest = it.ask('learn', { n: 3 });
    await expect(waiting).rejects.toThrow(Superseded);
    // A late answer of the one that was ended is nobody's.
    channels[0]!.answer('late', 0);
    channels[1]!.answer('other');
    channels[1]!.answer('newest');
    expect([await other, await newest]).toEqual(['other', 'newest']);
  });

  test('a model is sent before it is first used, and again to a new channel', async () => {
    const { lane: it, channels } = lane();
    const model = { name: 'm', model: 'text' };
    const ask = (kind: string | null) => it.ask(kind, { suggest: {} }, { model });
    const first = ask(null);
    expect(channels[0]!.sent.map(({ id, request }) => [id, Object.keys(request)[0]])).toEqual([[0, 'keep'], [1, 'suggest']]);
    channels[0]!.onmessage!({ data: { id: 0, ok: { name: 'm' } } });
    channels[0]!.answer('one');
    expect(await first).toBe('one');
    const second = ask('suggest');
    expect(channels[0]!.sent.length).toBe(3);
    const third = ask('suggest');
    await expect(second).rejects.toThrow(Superseded);
    expect(channels[1]!.sent.map(({ id }) => id)).toEqual([0, 3]);
    channels[1]!.answer('three');
    expect(await third).toBe('three');
  });

  test('after a crash another worker goes on', async () => {
    const { lane: it, channels } = lane();
    const broken = it.ask(null, {});
    const next = it.ask(null, {});
    channels[0]!.onmessage!({ data: { id: channels[0]!.sent[0].id, error: 'trap', fatal: true } });
    await expect(broken).rejects.toThrow('trap');
    expect(channels.length).toBe(2);
    channels[1]!.answer('fine');
    expect(await next).toBe('fine');
  });
});
