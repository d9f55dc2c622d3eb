import { createEngineHandlers } from './handlers/engines.js';
import { createHealthHandlers } from './handlers/health.js';
import { createInboxHandlers } from './handlers/inbox.js';
import { createMetricHandlers } from './handlers/metrics.js';
import { createOrderHandlers } from './handlers/orders.js';
import { createParseHandlers } from './handlers/parse.js';
import { createRecordHandlers } from './handlers/records.js';
import { createRunEventHandlers } from './handlers/run-events.js';
import { createRunExportHandlers } from './handlers/run-export.js';
import { createRunFileHandlers } from './handlers/run-files.js';
import { createRunRawHandlers } from './handlers/run-raw.js';
import { createRunHandlers } from './handlers/runs.js';
import { createSessionHandlers } from './handlers/session.js';
import { createStatisticsHandlers } from './handlers/statistics.js';
import type { Handlers } from './route.js';
import type { ServerContext } from './server-context.js';

/** A handler for every endpoint of the table, from one file for each thing that is asked about. */
export function createHandlers(context: ServerContext): Handlers {
  return {
    ...createParseHandlers(context),
    ...createRunHandlers(context),
    ...createRunEventHandlers(context),
    ...createRunRawHandlers(context),
    ...createRunFileHandlers(context),
    ...createRunExportHandlers(context),
    ...createEngineHandlers(context),
    ...createOrderHandlers(context),
    ...createInboxHandlers(context),
    ...createRecordHandlers(context),
    ...createStatisticsHandlers(context),
    ...createSessionHandlers(context),
    ...createHealthHandlers(context),
    ...createMetricHandlers(context),
  };
}
