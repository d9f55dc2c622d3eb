import type { RunResult, RunSpec, RunState } from '../../records/index.js';
import { checkRunRequest } from '../check-run-request.js';
import { findRun, runNotFound } from '../find-run.js';
import { pageOf } from '../page-of.js';
import { present } from '../present.js';
import { RequestError } from '../request-error.js';
import type { Handlers } from '../route.js';
import type { ServerContext } from '../server-context.js';
import { tellReply } from '../tell-reply.js';
import { timeOf } from '../time-of.js';
import { summarizeRun, viewRun } from '../views/run-view.js';

type RunHandlers = Pick<Handlers, 'startRun' | 'listRuns' | 'getRun' | 'replyToRun' | 'cancelRun'>;

/** Runs: queued, listed, answered, ended. */
export function createRunHandlers(server: ServerContext): RunHandlers {
  const { store, clock, newId, logger, settings, ending } = server;
  return {
    async startRun({ body, caller, requestId }) {
      server.checkTakesWork();
      const { request_id, ...asked } = body;
      const spec: RunSpec = await checkRunRequest(asked, server);
      const named = present({ requestId: request_id });
      const { id, repeated } = await store.createRun({ id: newId(), spec, state: 'queued', now: clock(), ...named });
      const { engine } = spec;
      logger.info('run queued', { run_id: id, engine, repeated, caller: caller.name, request_id: requestId });
      return { id };
    },
    async listRuns({ query }) {
      const { engine, search } = query;
      const state = query['state'] as RunState | undefined;
      const outcome = query['outcome'] as RunResult['status'] | undefined;
      const repairLevel = query['repair_level'] as RunResult['repair_level'] | undefined;
      const [since, until] = [timeOf(query['since']), timeOf(query['until'])];
      const filter = present({ state, engine, search, outcome, repairLevel, since, until });
      const { items, next_cursor } = await store.listRuns({ ...pageOf(query), ...filter });
      return { items: items.map(summarizeRun), next_cursor };
    },
    getRun: async ({ params }) => viewRun(await findRun(store, params.id)),
    async replyToRun({ params, body }) {
      const patienceMs = settings.limits.requestMs;
      const status = await tellReply({ store, ending, patienceMs }, params.id, body.text);
      switch (status) {
        case 'posted':
          return { status };
        case 'not_found':
          throw runNotFound();
        case 'not_waiting':
          throw new RequestError(
            'RUN_NOT_WAITING',
            'The run has asked nothing that is not answered yet. Wait for user.input.required among its events.',
          );
      }
    },
    async cancelRun({ params }) {
      const record = await store.requestCancel(params.id, clock());
      if (record === undefined) throw runNotFound();
      return viewRun(record);
    },
  };
}
