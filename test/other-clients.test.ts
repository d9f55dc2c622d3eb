import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { installTools } from '../scripts/install-tools.js';
import { createOpenApi } from '../src/server/api/openapi/create-openapi.js';
import { openListeningServer } from '../src/server/fixtures/open-listening-server.js';
import { startScriptedRun } from '../src/server/fixtures/scripted-run.js';

/** The part of `@ag-ui/client` that is used here. */
interface AgUiClient {
  readonly HttpAgent: new (options: { readonly url: string }) => {
    runAgent(
      input: object,
      subscriber: { onEvent(call: { readonly event: { readonly type: string } }): void },
    ): Promise<{ readonly newMessages: readonly { readonly content?: unknown }[] }>;
  };
}

/** The part of `@redocly/openapi-core` that is used here. */
interface Redocly {
  readonly createConfig: (settings: object) => Promise<object>;
  readonly lintFromString: (job: {
    readonly source: string;
    readonly config: object;
  }) => Promise<readonly { readonly ruleId: string; readonly message: string }[]>;
}

/** The part of `@scalar/openapi-parser` that is used here. */
interface Scalar {
  readonly validate: (document: object) => Promise<{ readonly valid: boolean; readonly errors?: readonly object[] }>;
}

const modules = await installTools('tools/clients');

describe("AG-UI's client", () => {
  it('consumes a run as an agent', async () => {
    const { HttpAgent } = (await import(join(modules, '@ag-ui/client/dist/index.mjs'))) as AgUiClient;
    const { store, url } = await openListeningServer();
    const run = await startScriptedRun(store, 'run-1');
    await run.publish(4);
    const agent = new HttpAgent({ url: `${url}/v1/runs/run-1/events?protocol=agui` });
    const types: string[] = [];
    const finished = agent.runAgent({}, { onEvent: ({ event }) => void types.push(event.type) });
    await run.publish();
    await run.end();
    const { newMessages } = await finished;
    expect(newMessages.map(({ content }) => content)).toEqual(['message 0', 'message 1', 'message 2']);
    expect([types[0], types.at(-1)]).toEqual(['RUN_STARTED', 'RUN_FINISHED']);
  });
});

describe('the OpenAPI document', async () => {
  const { createConfig, lintFromString } = (await import(
    join(modules, '@redocly/openapi-core/lib/index.js')
  )) as Redocly;
  const { validate } = (await import(join(modules, '@scalar/openapi-parser/dist/index.js'))) as Scalar;
  const config = await createConfig({ extends: ['recommended-strict'] });
  const copy = (document: object): object => JSON.parse(JSON.stringify(document)) as object;

  it.each(['http://127.0.0.1:7171', '/'])('has no errors in Redocly and Scalar, served at %s', async (url) => {
    const document = createOpenApi('1.2.3', { url });
    expect(await lintFromString({ source: JSON.stringify(document), config })).toEqual([]);
    expect(await validate(copy(document))).toMatchObject({ valid: true, errors: [] });
  });

  it('is rejected by both validators if it is invalid', async () => {
    const paths = { '/v1/x': { get: { operationId: 'x', responses: {}, parameters: [{}] } } };
    const document = { ...createOpenApi('1.2.3'), paths };
    expect((await lintFromString({ source: JSON.stringify(document), config })).length).toBeGreaterThan(0);
    expect(await validate(copy(document))).toMatchObject({ valid: false });
  });
});
