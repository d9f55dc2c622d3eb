import type * as AiSdk from '../src/json/adapters/ai-sdk.js';
import type * as Dispatch from '../src/orders/dispatch/index.js';
import type * as Events from '../src/events/index.js';
import type * as Json from '../src/json/index.js';
import type * as JsonSchema from '../src/json/schema/index.js';
import type * as Orders from '../src/orders/index.js';
import type * as Runs from '../src/runs/index.js';
import type * as HonoBundle from '../src/server/http/hono.js';
import type * as RunServer from '../src/server/run-server.js';
import type * as WorkerPorts from '../src/server/worker/index.js';
import type * as Store from '../src/store/index.js';
import type * as SqliteStore from '../src/store/sqlite/open.js';

/** The built package: `dist`, not `src`, so no loader affects the measurements. */
export const { createJsonStream, parse, repairJson } = await load<typeof Json>('json');
export const { fromJsonSchema } = await load<typeof JsonSchema>('json/schema');
export const { jsonMiddleware } = await load<typeof AiSdk>('entries', 'ai-sdk');
export const { createTranslator } = await load<typeof Events>('events');
export const { startRun } = await load<typeof Runs>('runs');
export const { openStore } = await load<typeof Store>('store');
export const { createLead } = await load<typeof Orders>('orders');
export const { startWorker } = await load<typeof Dispatch>('orders/dispatch');
export const { runServer } = await load<typeof RunServer>('server', 'run-server');
/** The same copy of hono as the server's: two would replace each other's global `Response`. */
export const { getRequestListener, Hono } = await load<typeof HonoBundle>('server/http', 'hono');
/** The client of the worker protocol, for simulated workers. */
export const { connect, openRemotePorts } = await load<typeof WorkerPorts>('server/worker');
/** Not through the entry, because only this function accepts `synchronous`. */
export const { openSqliteStore } = await load<typeof SqliteStore>('store/sqlite', 'open');

async function load<T>(folder: string, file = 'index'): Promise<T> {
  return (await import(new URL(`../dist/${folder}/${file}.js`, import.meta.url).href)) as T;
}
