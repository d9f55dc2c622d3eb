import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { NewSessionRequest } from '@agentclientprotocol/sdk';
import { SluiceError, getErrorMessage } from '../base/index.js';
import type { WorkContext } from '../dispatch/index.js';
import type { AcpUpdate } from '../events/index.js';
import type { RunResult, RunSpec } from '../records/index.js';
import { ACCEPTS_TEXT_ONLY, findAcceptedInputs, listLaunchers } from '../runs/index.js';
import type { AcceptedInputs, Launcher, McpServer } from '../runs/index.js';
import { readPrompt } from './read-prompt.js';
import type { PromptBlock, ReadPrompt } from './read-prompt.js';
import { readServers } from './read-servers.js';
import { createTurnUpdates, newTurnId, runTurn } from './run-turn.js';
import type { TurnClient } from './run-turn.js';
import { createSessionFiles } from './session-files.js';
import type { SessionFiles, StoredSession } from './session-files.js';

/** The spec that every prompt of a session is run with. */
export type TurnSpec = Pick<RunSpec, 'engine' | 'contract' | 'model' | 'max_retries' | 'limits' | 'env'> & {
  readonly permissions: Permissions;
};

/** The parameters of a client that opens a session. */
export type SessionRequest = Pick<NewSessionRequest, 'cwd' | 'mcpServers'>;

export type Permissions = NonNullable<RunSpec['permissions']>;

/** Conversations open at once on a connection, and prompts at work. */
const MAX_SESSIONS = 256;
const MAX_TURNS = 16;
/** Limits of what `session/load` replays: the last runs, and their events in total. */
const MAX_REPLAYED_RUNS = 50;
const MAX_REPLAYED_EVENTS = 20_000;
const PAGE = 500;

interface Session {
  stored: StoredSession;
  /** Not stored: they hold secrets, and a client names them again when it loads the session. */
  servers: readonly McpServer[];
  /** The run of the prompt at work. */
  active: string | null;
}

/** The conversations of one client. Each prompt is a run; the engine's own session connects them. */
export class AcpSessions {
  readonly #context: WorkContext;
  readonly #spec: TurnSpec;
  readonly #ignoresServers: boolean;
  readonly #files: SessionFiles;
  readonly #open = new Map<string, Session>();
  readonly #turns = new Set<Promise<unknown>>();
  readonly #accepts = new Map<string, Promise<AcceptedInputs>>();

  constructor(context: WorkContext, spec: TurnSpec, ignoresServers = false) {
    this.#context = context;
    this.#spec = spec;
    this.#ignoresServers = ignoresServers;
    this.#files = createSessionFiles(context.runs.data);
  }

  /** The permissions a client may choose from; everything only where the command line allowed it. */
  listModes(engine: string): readonly Permissions[] {
    const modes: Permissions[] = ['safe', 'workspace'];
    if (this.#findLauncher(engine)?.canAsk === true) modes.push('ask');
    return this.#spec.permissions === 'bypass' ? [...modes, 'bypass'] : modes;
  }

  /** Detects what an engine accepts besides text; called once per connection. */
  async findAcceptedInputs(engine = this.#spec.engine): Promise<AcceptedInputs> {
    const known = this.#accepts.get(engine);
    if (known !== undefined) return known;
    const { runs, logger } = this.#context;
    const asked = findAcceptedInputs(engine, runs).catch((error: unknown) => {
      logger.warn('cannot detect what the engine accepts', { engine, error: getErrorMessage(error) });
      return ACCEPTS_TEXT_ONLY;
    });
    this.#accepts.set(engine, asked);
    return asked;
  }

  async create({ cwd, mcpServers }: SessionRequest): Promise<StoredSession> {
    await requireFolder(cwd);
    const { engine, permissions } = this.#spec;
    const servers = await this.#readServers(engine, mcpServers);
    const stored: StoredSession = {
      version: 1,
      id: newTurnId(),
      engine,
      cwd,
      permissions,
      session_id: null,
      turns: 0,
      runs: [],
    };
    return this.#add(stored, servers);
  }

  /** Opens a stored conversation. */
  async load(id: string, { cwd, mcpServers }: SessionRequest): Promise<StoredSession> {
    const open = this.#open.get(id);
    if (open !== undefined) {
      open.servers = await this.#readServers(open.stored.engine, mcpServers);
      return open.stored;
    }
    const stored = await this.#files.read(id);
    if (stored === undefined) throw notFound(id);
    await requireFolder(cwd);
    if (stored.cwd !== cwd) {
      throw new SluiceError(
        'ACP_FOLDER_INVALID',
        `The session belongs to the folder "${stored.cwd}". Open that folder.`,
      );
    }
    const { permissions } = stored;
    const isOffered = this.listModes(stored.engine).includes(permissions);
    const servers = await this.#readServers(stored.engine, mcpServers);
    return this.#add({ ...stored, permissions: isOffered ? permissions : 'safe' }, servers);
  }

  setMode(id: string, mode: string): void {
    const session = this.#find(id);
    const permissions = this.listModes(session.stored.engine).find((one) => one === mode);
    if (permissions === undefined) {
      const offered = this.listModes(session.stored.engine).join(', ');
      throw new SluiceError('ACP_MODE_UNKNOWN', `Unknown mode ${JSON.stringify(mode)}. Use one of: ${offered}.`);
    }
    session.stored = { ...session.stored, permissions };
  }

  /** Executes a prompt as a run and returns its result. */
  async prompt(
    id: string,
    blocks: readonly PromptBlock[],
    client: TurnClient,
  ): Promise<{ run: string; result: RunResult }> {
    const session = this.#find(id);
    const { engine } = session.stored;
    const prompt = readPrompt(blocks, { name: engine, accepts: await this.findAcceptedInputs(engine) });
    if (session.active !== null)
      throw new SluiceError(
        'ACP_SESSION_BUSY',
        'The session is busy with a prompt. Wait until it has ended, or cancel it.',
      );
    if (this.#turns.size >= MAX_TURNS) throw limit(`concurrent prompts: at most ${MAX_TURNS}`);
    const run = newTurnId();
    session.active = run;
    const turn = this.#work(session, run, prompt, client).finally(() => {
      session.active = null;
      this.#turns.delete(turn);
    });
    this.#turns.add(turn);
    return turn;
  }

  /** Ends the prompt at work, if there is one. */
  async cancel(id: string): Promise<void> {
    const run = this.#open.get(id)?.active ?? null;
    if (run !== null) await this.#context.store.requestCancel(run, this.#context.clock());
  }

  /** Ends all prompts at work; resolves when they have ended. */
  async end(): Promise<void> {
    for (const id of this.#open.keys()) await this.cancel(id).catch(() => undefined);
    await Promise.allSettled(this.#turns);
  }

  /** The updates of earlier prompts, oldest first; of a long conversation only the last. */
  async *replay(id: string): AsyncGenerator<AcpUpdate> {
    const { runs, turns } = this.#find(id).stored;
    const first = Math.max(0, runs.length - MAX_REPLAYED_RUNS);
    const before = turns - runs.length + first;
    let left = MAX_REPLAYED_EVENTS;
    for (const [index, runId] of runs.slice(first).entries()) {
      const record = await this.#context.store.findRun(runId);
      if (record === undefined || left <= 0) continue;
      const number = before + index + 1;
      const content = { type: 'text', text: record.spec.prompt ?? '' } as const;
      yield { sessionUpdate: 'user_message_chunk', content, messageId: `prompt_${number}` };
      const translate = createTurnUpdates(number);
      for (let after = 0; left > 0;) {
        const page = await this.#context.store.read({ runId, protocol: 'fcmp', after, limit: Math.min(PAGE, left) });
        left -= page.length;
        for (const { protocol, event } of page) {
          if (protocol !== 'fcmp') continue;
          after = event.seq;
          yield* translate(event);
        }
        if (page.length === 0) break;
      }
    }
  }

  async #work(session: Session, run: string, { text: prompt, attachments }: ReadPrompt, client: TurnClient) {
    const { stored, servers: mcpServers } = session;
    const { engine, cwd, permissions, session_id } = stored;
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
    // Stored before the run begins: the session can be loaded even if this process ends before the run does.
    session.stored = { ...stored, turns: number, runs: [...stored.runs, run] };
    await this.#files.write(session.stored);
    const result = await runTurn(this.#context, { id: run, number, spec, inputs: { attachments, mcpServers } }, client);
    if (result.session_id !== null) session.stored = { ...session.stored, session_id: result.session_id };
    await this.#files.write(session.stored);
    return { run, result };
  }

  async #readServers(engine: string, given: SessionRequest['mcpServers']): Promise<readonly McpServer[]> {
    if (given.length === 0) return [];
    if (!this.#ignoresServers)
      return readServers(given, { name: engine, accepts: await this.findAcceptedInputs(engine) });
    this.#context.logger.info('MCP servers of the client are ignored', { count: given.length });
    return [];
  }

  #add(stored: StoredSession, servers: readonly McpServer[]): StoredSession {
    if (this.#open.size >= MAX_SESSIONS) throw limit(`open sessions: at most ${MAX_SESSIONS}`);
    this.#open.set(stored.id, { stored, servers, active: null });
    return stored;
  }

  #find(id: string): Session {
    const session = this.#open.get(id);
    if (session === undefined) throw notFound(id);
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
    throw new SluiceError('ACP_FOLDER_INVALID', `${JSON.stringify(cwd)} is not an absolute path of a folder.`);
}

function notFound(id: string): SluiceError {
  return new SluiceError(
    'ACP_SESSION_NOT_FOUND',
    `Session not found: ${JSON.stringify(id.slice(0, 100))}. Start a new one.`,
  );
}

function limit(what: string): SluiceError {
  return new SluiceError('ACP_LIMIT_REACHED', `Too many ${what}. Wait until one has ended.`);
}
