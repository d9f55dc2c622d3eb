import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { ContentBlock, NewSessionRequest } from '@agentclientprotocol/sdk';
import { SluiceError, getErrorMessage } from '../../base/index.js';
import type { WorkContext } from '../../orders/dispatch/index.js';
import type { Store } from '../../store/index.js';
import type { AcpUpdate } from '../../events/index.js';
import type { RunResult, RunSpec } from '../../store/records/index.js';
import { ACCEPTS_TEXT_ONLY, findAcceptedInputs, listLaunchers } from '../../runs/index.js';
import type { AcceptedInputs, Launcher, McpServer } from '../../runs/index.js';
import {
  createRequestError,
  readPrompt,
  readServers,
  createTurnUpdates,
  createId,
  runTurn,
  type TurnClient,
} from './run-turn.js';
import { createSessionFiles, type SessionFiles, type StoredSession } from './session-files.js';

/** The part of the run spec shared by all prompts of a session. */
export type TurnSpec = Pick<RunSpec, 'engine' | 'contract' | 'model' | 'max_retries' | 'limits' | 'env'> & {
  readonly permissions: Permissions;
};

export type SessionRequest = Pick<NewSessionRequest, 'cwd' | 'mcpServers'>;

export type Permissions = NonNullable<RunSpec['permissions']>;

/** The maximum number of open sessions and active prompts per connection. */
const MAX_SESSIONS = 256;
const MAX_TURNS = 16;
/** Limits for `session/load`: the newest runs, and the newest of their events. */
const MAX_REPLAYED_RUNS = 50;
const MAX_REPLAYED_EVENTS = 20_000;
const PAGE_SIZE = 500;

interface Session {
  stored: StoredSession;
  /** Not stored, because they contain secrets; a client sends them again when it loads the session. */
  servers: readonly McpServer[];
  active: { readonly run: string; isCanceled: boolean } | null;
  lastWrite: Promise<void>;
}

/** One client's sessions. Each prompt is a run; a session's prompts continue the same engine session. */
export class AcpSessions {
  readonly #context: WorkContext<Store>;
  readonly #spec: TurnSpec;
  readonly #ignoresServers: boolean;
  readonly #files: SessionFiles;
  readonly #open = new Map<string, Session>();
  readonly #turns = new Set<Promise<unknown>>();
  readonly #acceptedInputs = new Map<string, Promise<AcceptedInputs>>();

  constructor(context: WorkContext<Store>, spec: TurnSpec, ignoresServers = false) {
    this.#context = context;
    this.#spec = spec;
    this.#ignoresServers = ignoresServers;
    this.#files = createSessionFiles(context.runs.data);
  }

  /** Lists the permissions that a client may choose; `bypass` only if the command line allows it. */
  listModes(engine: string): readonly Permissions[] {
    const modes: Permissions[] = ['safe', 'workspace'];
    if (this.#findLauncher(engine)?.canAsk === true) modes.push('ask');
    return this.#spec.permissions === 'bypass' ? [...modes, 'bypass'] : modes;
  }

  /** Detects which inputs an engine accepts besides text; once per engine and connection. */
  async findAcceptedInputs(engine = this.#spec.engine): Promise<AcceptedInputs> {
    const cached = this.#acceptedInputs.get(engine);
    if (cached !== undefined) return cached;
    const { runs, logger } = this.#context;
    const detection = findAcceptedInputs(engine, runs).catch((error: unknown) => {
      logger.warn('cannot detect which inputs the engine accepts', { engine, error: getErrorMessage(error) });
      return ACCEPTS_TEXT_ONLY;
    });
    this.#acceptedInputs.set(engine, detection);
    return detection;
  }

  async create({ cwd, mcpServers }: SessionRequest): Promise<StoredSession> {
    await requireFolder(cwd);
    const { engine, permissions } = this.#spec;
    const servers = await this.#readServers(engine, mcpServers);
    const stored: StoredSession = {
      version: 1,
      id: createId(),
      engine,
      cwd,
      permissions,
      session_id: null,
      turns: 0,
      runs: [],
    };
    return this.#add(stored, servers);
  }

  async load(id: string, { cwd, mcpServers }: SessionRequest): Promise<StoredSession> {
    const stored = this.#open.get(id)?.stored ?? (await this.#files.read(id));
    if (stored === undefined) throw createNotFoundError(id);
    await requireFolder(cwd);
    if (stored.cwd !== cwd) {
      throw createRequestError(`The session belongs to the folder "${stored.cwd}", not to "${cwd}". Open that folder.`);
    }
    const servers = await this.#readServers(stored.engine, mcpServers);
    // Looked up only now: another request might have opened the session meanwhile.
    const alreadyOpen = this.#open.get(id);
    if (alreadyOpen !== undefined) {
      alreadyOpen.servers = servers;
      return alreadyOpen.stored;
    }
    const { permissions } = stored;
    const isOffered = this.listModes(stored.engine).includes(permissions);
    return this.#add({ ...stored, permissions: isOffered ? permissions : 'safe' }, servers);
  }

  async setMode(id: string, mode: string): Promise<void> {
    const session = this.#find(id);
    const permissions = this.listModes(session.stored.engine).find((offeredMode) => offeredMode === mode);
    if (permissions === undefined) {
      const offered = this.listModes(session.stored.engine).join(', ');
      throw createRequestError(`Unknown mode ${JSON.stringify(mode)}. Use one of: ${offered}.`);
    }
    session.stored = { ...session.stored, permissions };
    // A session without a prompt is not stored.
    if (session.stored.turns > 0) await this.#save(session);
  }

  async prompt(
    id: string,
    blocks: readonly ContentBlock[],
    client: TurnClient,
  ): Promise<{ run: string; result: RunResult }> {
    const session = this.#find(id);
    if (session.active !== null)
      throw createBusyError('The session already has an active prompt. Wait until it has ended, or cancel it.');
    if (this.#turns.size >= MAX_TURNS)
      throw createBusyError(`Too many concurrent prompts: at most ${MAX_TURNS}. Wait until one has ended.`);
    const run = createId();
    session.active = { run, isCanceled: false };
    const turn = this.#runPrompt(session, run, blocks, client).finally(() => {
      session.active = null;
      this.#turns.delete(turn);
    });
    this.#turns.add(turn);
    return turn;
  }

  async cancel(id: string): Promise<void> {
    const active = this.#open.get(id)?.active ?? null;
    if (active === null) return;
    active.isCanceled = true;
    await this.#requestCancel(active.run);
  }

  /** Cancels all active prompts; resolves when they have ended. */
  async end(): Promise<void> {
    for (const id of this.#open.keys()) await this.cancel(id).catch(() => undefined);
    await Promise.allSettled(this.#turns);
  }

  /** Yields the updates of earlier prompts, oldest first; in a long session, only the newest. */
  async *replay(id: string): AsyncGenerator<AcpUpdate> {
    for (const { runId, number, prompt, after, to } of await this.#planReplay(this.#find(id).stored)) {
      const content = { type: 'text', text: prompt } as const;
      yield { sessionUpdate: 'user_message_chunk', content, messageId: `prompt_${number}` };
      const translate = createTurnUpdates(number);
      for (let position = after; position < to;) {
        const page = await this.#context.store.read({ runId, protocol: 'fcmp', after: position, to, limit: PAGE_SIZE });
        if (page.length === 0) break;
        for (const { protocol, event } of page) {
          if (protocol !== 'fcmp') continue;
          position = event.seq;
          yield* translate(event);
        }
      }
    }
  }

  /**
   * Chooses the events to replay, run by run: from the newest run back, until the limits are reached. `number` is the
   * position of a run's prompt in the session, from 1; its events have a `seq` above `after`, up to and including `to`.
   */
  async #planReplay({ runs, turns }: StoredSession) {
    const replayedRuns: { runId: string; number: number; prompt: string; after: number; to: number }[] = [];
    let remaining = MAX_REPLAYED_EVENTS;
    for (const [age, runId] of runs.slice(-MAX_REPLAYED_RUNS).toReversed().entries()) {
      if (remaining === 0) break;
      const record = await this.#context.store.findRun(runId);
      if (record === undefined) continue;
      const to = await this.#findLastSeq(runId);
      const after = Math.max(0, to - remaining);
      remaining -= to - after;
      replayedRuns.push({ runId, number: turns - age, prompt: record.spec.prompt ?? '', after, to });
    }
    return replayedRuns.toReversed();
  }

  /** Returns the `seq` of a run's last FCMP event, or 0. Uses a binary search, so not all events are read. */
  async #findLastSeq(runId: string): Promise<number> {
    const hasEventAfter = async (after: number): Promise<boolean> =>
      (await this.#context.store.read({ runId, protocol: 'fcmp', after, limit: 1 })).length > 0;
    let low = 0;
    let high = 64;
    while (await hasEventAfter(high)) {
      low = high + 1;
      high *= 2;
    }
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (await hasEventAfter(middle)) low = middle + 1;
      else high = middle;
    }
    return high;
  }

  async #runPrompt(session: Session, run: string, blocks: readonly ContentBlock[], client: TurnClient) {
    const { engine } = session.stored;
    const accepts = await this.findAcceptedInputs(engine);
    const { text: prompt, attachments } = readPrompt(blocks, { name: engine, accepts });
    const { stored, servers: mcpServers } = session;
    const { cwd, permissions, session_id } = stored;
    const canResume = this.#findLauncher(engine)?.canResume === true;
    const number = stored.turns + 1;
    const spec: RunSpec = {
      ...this.#spec,
      engine,
      permissions,
      workdir: cwd,
      prompt,
      ...(session_id === null || !canResume ? {} : { session: session_id }),
    };
    // Stored before the run starts, so the session can be loaded even if this process exits first.
    session.stored = { ...stored, turns: number, runs: [...stored.runs, run] };
    await this.#save(session);
    const onStart = (): void => {
      // The client might have canceled the prompt before the run was in the store.
      if (session.active?.isCanceled === true) void this.#requestCancel(run).catch(() => undefined);
    };
    const inputs = { attachments, mcpServers };
    const result = await runTurn(this.#context, { id: run, number, spec, inputs, onStart }, client);
    if (result.session_id !== null) session.stored = { ...session.stored, session_id: result.session_id };
    await this.#save(session);
    return { run, result };
  }

  /** Writes a session file once earlier writes are done: otherwise an older state could replace a newer one. */
  async #save(session: Session): Promise<void> {
    session.lastWrite = session.lastWrite.catch(() => undefined).then(async () => this.#files.write(session.stored));
    return session.lastWrite;
  }

  async #requestCancel(run: string): Promise<void> {
    await this.#context.store.requestCancel(run, this.#context.clock());
  }

  async #readServers(engine: string, requested: SessionRequest['mcpServers']): Promise<readonly McpServer[]> {
    if (requested.length === 0) return [];
    if (!this.#ignoresServers)
      return readServers(requested, { name: engine, accepts: await this.findAcceptedInputs(engine) });
    this.#context.logger.info("ignoring the client's MCP servers", { count: requested.length });
    return [];
  }

  #add(stored: StoredSession, servers: readonly McpServer[]): StoredSession {
    if (this.#open.size >= MAX_SESSIONS)
      throw createBusyError(
        `Too many sessions on this connection: at most ${MAX_SESSIONS}. Close it and connect again.`,
      );
    this.#open.set(stored.id, { stored, servers, active: null, lastWrite: Promise.resolve() });
    return stored;
  }

  #find(id: string): Session {
    const session = this.#open.get(id);
    if (session === undefined) throw createNotFoundError(id);
    return session;
  }

  #findLauncher(engine: string): Launcher | undefined {
    const { agents, launchers } = this.#context.runs;
    return listLaunchers(agents, launchers)[engine];
  }
}

async function requireFolder(cwd: string): Promise<void> {
  const isFolder = isAbsolute(cwd) && (await stat(cwd).catch(() => undefined))?.isDirectory() === true;
  if (!isFolder)
    throw createRequestError(
      `${JSON.stringify(cwd)} is not the absolute path of an existing folder. Open another folder.`,
    );
}

function createNotFoundError(id: string): SluiceError {
  return new SluiceError(
    'ACP_SESSION_NOT_FOUND',
    `Session ${JSON.stringify(id.slice(0, 100))} not found. Start a new session.`,
  );
}

export function createBusyError(message: string): SluiceError {
  return new SluiceError('ACP_BUSY', message);
}
