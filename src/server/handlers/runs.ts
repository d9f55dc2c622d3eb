import { matchGlob, omitUndefined } from '../../base/index.js';
import type { RunResult, RunSpec, RunState } from '../../store/records/index.js';
import { checkRunSpec, RunSpecError } from '../../runs/index.js';
import { RequestError } from '../http/problem.js';
import { readTraceparent } from '../http/read-request.js';
import type { Handlers } from '../http/request-checks.js';
import type { ServerContext } from '../server-context.js';
import { answerPermission, replyToRun } from './replies.js';
import { resolveAllowedFolder } from '../security/allowed-folder.js';
import { createRunNotFoundError, findRun, summarizeRun, toRunView } from './run-view.js';
import { readPage, readTime } from './query.js';

/** Creates the run handlers: start, list, read, reply, cancel. */
export function createRunHandlers(server: ServerContext) {
  const { store, clock, newId, logger, settings, shutdownSignal } = server;
  return {
    async startRun({ body, caller, requestId, context }) {
      server.checkAcceptsWork();
      const { request_id, ...requested } = body;
      const traceparent = readTraceparent(context) ?? requested.traceparent;
      const spec: RunSpec = await checkRunRequest({ ...requested, ...omitUndefined({ traceparent }) }, server);
      const idFields = omitUndefined({ requestId: request_id });
      const newRun = newId();
      // The request is recorded before the run can be claimed, so the run counts against the caller's budget.
      await store.recordRequest({ run: newRun, caller: caller.name, issueRef: null, now: clock() });
      const { id, repeated } = await store.createRun({ id: newRun, spec, state: 'queued', now: clock(), ...idFields });
      const { engine } = spec;
      logger.info('run queued', { run_id: id, engine, repeated, caller: caller.name, request_id: requestId });
      return { id };
    },
    async listRuns({ query }) {
      const { engine, search } = query;
      const state = query['state'] as RunState | undefined;
      const outcome = query['outcome'] as RunResult['status'] | undefined;
      const repairLevel = query['repair_level'] as RunResult['repair_level'] | undefined;
      const [since, until] = [readTime(query, 'since'), readTime(query, 'until')];
      const [endedSince, endedUntil] = [readTime(query, 'ended_since'), readTime(query, 'ended_until')];
      const { model, engine_version: engineVersion } = query;
      const times = { since, until, endedSince, endedUntil };
      const filter = omitUndefined({ state, engine, search, outcome, repairLevel, ...times, model, engineVersion });
      const { items, next_cursor } = await store.listRuns({ ...readPage(query), ...filter });
      return { items: items.map(summarizeRun), next_cursor };
    },
    getRun: async ({ params }) => toRunView(await findRun(store, params.id)),
    async replyToRun({ params, body, caller, requestId }) {
      const options = { store, shutdownSignal, timeoutMs: settings.limits.requestMs };
      const isText = 'text' in body;
      // Which tools an agent may use is a decision; the endpoint itself needs only the scope of a text reply.
      if (!isText) server.guard.checkScope(caller, 'decide');
      await findRun(store, params.id);
      const status = isText
        ? await replyToRun(options, params.id, body.text)
        : await answerPermission(options, params.id, { ...body, who: caller.name });
      if (!isText && status === 'posted') {
        const { interaction_id, option_id } = body;
        logger.info('permission answered', {
          run_id: params.id,
          interaction_id,
          option_id,
          caller: caller.name,
          request_id: requestId,
        });
      }
      switch (status) {
        case 'posted':
          return { status };
        case 'not_found':
          throw createRunNotFoundError();
        case 'not_waiting':
          throw new RequestError(
            'RUN_NOT_WAITING',
            'The run is not waiting for this reply. Wait for the event "user.input.required" or "permission.required".',
          );
      }
    },
    async cancelRun({ params }) {
      const record = await store.requestCancel(params.id, clock());
      if (record === undefined) throw createRunNotFoundError();
      return toRunView(record);
    },
  } satisfies Partial<Handlers>;
}

/**
 * Checks that a requested run uses an allowed folder, an allowed executable, and no more permissions than the
 * configuration grants. The folder is replaced by its real path, so changing a link later has no effect.
 */
async function checkRunRequest(
  body: unknown,
  { settings, data }: Pick<ServerContext, 'settings' | 'data'>,
): Promise<RunSpec> {
  const { commands, roots, allowBypass, agents } = settings;
  checkSchemaSize(body);
  const { spec } = checkRunSpec(body, { agents });
  const program = spec.engine === 'command' ? spec.command?.[0] : undefined;
  if (program !== undefined && !commands.includes(program)) {
    throw new RequestError(
      'COMMAND_NOT_ALLOWED',
      'This command is not allowed. Add it to "commands" in the configuration.',
    );
  }
  if (spec.permissions === 'bypass' && !allowBypass) {
    throw new RequestError(
      'PERMISSIONS_NOT_ALLOWED',
      'The permissions "bypass" are not allowed. Set "server.allow_bypass" in the configuration.',
    );
  }
  if (spec.sandbox === 'off' && !allowBypass) {
    throw new RequestError(
      'PERMISSIONS_NOT_ALLOWED',
      'A request must not disable the sandbox. Set "sandbox.use" or "server.allow_bypass" in the configuration.',
    );
  }
  if (spec.approvals?.some(({ decide }) => decide === 'allow') === true && !allowBypass) {
    throw new RequestError(
      'PERMISSIONS_NOT_ALLOWED',
      'A request must not contain rules that allow tools. Add them to "approvals" in the configuration, or set "server.allow_bypass".',
    );
  }
  // A requested pattern is allowed if an allowed one covers its text, stars included: then it covers every match too.
  const variable = (spec.env ?? []).find((name) => !settings.env.some((allowed) => matchGlob(allowed, name)));
  if (variable !== undefined) {
    throw new RequestError(
      'ENVIRONMENT_NOT_ALLOWED',
      `The environment variable "${variable}" is not allowed. Add it to "server.env" in the configuration, or omit it.`,
    );
  }
  return { ...spec, workdir: await resolveAllowedFolder(spec.workdir, { roots, data }) };
}

/** The maximum size of a schema. Compiling a larger one would delay other requests. */
const MAX_SCHEMA_CHARACTERS = 64 * 1024;

function checkSchemaSize(body: unknown): void {
  // The endpoint's schema has checked the body's shape.
  const { contract } = body as Pick<RunSpec, 'contract'>;
  if (contract?.schema === undefined || JSON.stringify(contract.schema).length <= MAX_SCHEMA_CHARACTERS) return;
  const message = `is larger than ${MAX_SCHEMA_CHARACTERS} characters; use a smaller schema`;
  throw new RunSpecError([{ path: ['contract', 'schema'], message }]);
}
