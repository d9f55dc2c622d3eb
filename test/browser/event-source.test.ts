import { expect, it } from 'vitest';
import { codex } from '../../src/events/contract/translate-lines.contract.js';
import { session } from './codex-lines.js';
import { useConsole } from './use-console.js';

const app = useConsole(async (site) => site.runToEnd({ prints: session(codex.message('Hello to every reader.')) }));

it("the browser's own EventSource follows a run to its end, each event once and in order", async () => {
  const { page } = await app.open('/workbench');
  const { id } = app.seeds;
  const receivedIds = await page.evaluate(
    async (address) =>
      new Promise<{ ids: string[]; end: string }>((resolve, reject) => {
        const ids: string[] = [];
        const source = new EventSource(address);
        source.addEventListener('message', ({ lastEventId }) => ids.push(lastEventId));
        source.addEventListener('end', ({ data }) => {
          source.close();
          resolve({ ids, end: String(data) });
        });
        source.addEventListener('error', () => reject(new Error('the stream broke')));
      }),
    `/v1/runs/${id}/events`,
  );
  const { events } = await app.site.client.readHistory({ id });
  expect(receivedIds.ids).toEqual(events.map((event) => String((event as { readonly seq: number }).seq)));
  expect(receivedIds.ids.length).toBeGreaterThan(2);
  expect(JSON.parse(receivedIds.end)).toEqual({ status: 'success' });
});
