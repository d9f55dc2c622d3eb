import { describe, expect, it } from 'vitest';
import { SinkError } from '../sinks/sink.js';
import type { Sink } from '../sinks/sink.js';
import { cleanEnd, goodResult, makeRequest, startLead } from './fixtures/lead-at-work.js';

/** A lead whose only sink refuses everything until it is repaired. */
async function withBrokenSink() {
  const arrived: string[] = [];
  let isBroken = true;
  const sink: Sink = {
    name: 'forge',
    timeoutMs: 100,
    accepts: () => true,
    async send({ trigger }) {
      if (isBroken) throw new SinkError('SINK_REFUSED', 'forge answered 401', { isPermanent: true });
      arrived.push(trigger);
      return { deliveredTo: 'forge' };
    },
  };
  const at = await startLead({ sinks: [sink] });
  const submitted = await at.lead.submit(makeRequest());
  await at.report(submitted, 'work_result.json', goodResult(submitted));
  await at.lead.settle(cleanEnd(submitted));
  const repair = () => {
    isBroken = false;
  };
  return { ...at, submitted, arrived, repair };
}

describe('a comment that cannot be delivered', () => {
  it('is put before a person, with the order and its result', async () => {
    const { lead, submitted, inbox, findState } = await withBrokenSink();
    expect(await lead.deliver()).toMatchObject({ dead: 1 });
    expect(await findState()).toBe('needs-human');
    expect(await inbox()).toMatchObject([
      {
        run_id: submitted.order.run_id,
        run: submitted.run,
        result_code: 'env_unavailable',
        reason: expect.stringContaining('forge answered 401'),
        reading: { source: 'json', result: { status: 'ok' } },
      },
    ]);
  });

  it('is sent again when the person accepts', async () => {
    const { lead, inbox, findState, arrived, repair } = await withBrokenSink();
    await lead.deliver();
    repair();
    const [item] = await inbox();
    await lead.resolve({ id: item?.id ?? '', action: 'accept', who: 'Ada', why: 'the token is renewed' });
    await lead.deliver();
    expect(arrived).toEqual([`resolve:${item?.id}`]);
    expect(await findState()).toBe('review');
  });

  it('is put before a person also when it was about a decision of a person', async () => {
    const { lead, inbox, findState } = await withBrokenSink();
    await lead.deliver();
    const [first] = await inbox();
    await lead.resolve({ id: first?.id ?? '', action: 'reject', who: 'Ada', why: 'no' });
    expect(await lead.deliver()).toMatchObject({ dead: 1 });
    const [second] = await inbox();
    expect(second?.reason).toContain(`resolve:${first?.id}`);
    expect(await findState()).toBe('needs-human');
  });

  it('of an old run leaves the new one alone', async () => {
    const { lead, inbox, findState } = await withBrokenSink();
    await lead.submit(makeRequest());
    expect(await lead.deliver()).toMatchObject({ dead: 1 });
    expect(await findState()).toBe('doing');
    expect(await inbox()).toEqual([]);
  });
});
