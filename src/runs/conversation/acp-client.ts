import {
  PERMISSION_METHOD,
  arrayField,
  countField,
  createAcpMessageReader,
  field,
  isRecord,
  nameField,
  objectField,
  readPermissionRequest,
  resultFields,
} from '../../events/index.js';
import type { RpcId, RpcMessage } from '../../events/index.js';
import { getErrorMessage } from '../../base/index.js';
import { VERSION } from '../../files/index.js';

/** What is asked of an agent over the protocol. */
export interface AcpRequest {
  readonly prompt: string;
  readonly workdir: string;
  /** The session to resume. */
  readonly sessionId: string | null;
  readonly model?: string;
  /** How it is authenticated, if it offers that. */
  readonly authenticate?: string;
  /** Whether the agent's own modes that approve by themselves are left on. */
  readonly keepMode: boolean;
}

/** What a conversation can do to its surroundings. */
export interface AcpClientPorts {
  send(message: object): void;
  /** The agent asks for the n-th permission, counted from 1, as in the ids of the events. */
  onPermission(number: number, kind: string | null): void;
  readFile(path: string, lines: { readonly line: number | null; readonly limit: number | null }): Promise<string>;
  writeFile(path: string, text: string): Promise<void>;
  /** The turn is over, or the agent refused to start it: nothing more is expected of it. */
  onEnd(): void;
  /** The agent cannot go on with the session. */
  onSessionLost(reason: string): void;
  /** The agent does not keep to the protocol. */
  onBroken(reason: string): void;
}

/** Requests an agent may make in one attempt: no real one comes near. */
const MAX_REQUESTS = 10_000;

/** Lines that are not messages before the first answer: a program that is not an agent prints such. */
const MAX_STRAY_LINES = 200;

/** How long the agent may take for each step before the prompt. */
const HANDSHAKE_MS = 120_000;

/** Modes in which agents ask before they change something, the most careful first. */
const ASKING_MODES = ['default', 'ask', 'read-only', 'workspace-write'] as const;

const METHOD_NOT_FOUND = -32_601;
const INVALID_PARAMS = -32_602;
const REFUSED = -32_000;

/** The client's side of the Agent Client Protocol, for one prompt. It only answers; when to stop is decided elsewhere. */
export class AcpClient {
  readonly #request: AcpRequest;
  readonly #ports: AcpClientPorts;
  readonly #reader = createAcpMessageReader((message) => this.#read(message));
  readonly #sent = new Map<RpcId, (message: Extract<RpcMessage, { kind: 'result' | 'error' }>) => void>();
  /** Requests of the agent that are not answered. */
  readonly #asked = new Set<RpcId>();
  /** The request behind each open permission question. */
  readonly #questions = new Map<number, RpcId>();
  readonly #handshakeMs: number;
  #nextId = 0;
  #requests = 0;
  #permissions = 0;
  #strayLines = 0;
  #sessionId: string | null = null;
  #canResume = false;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(
    request: AcpRequest,
    ports: AcpClientPorts,
    { handshakeMs = HANDSHAKE_MS }: { readonly handshakeMs?: number } = {},
  ) {
    this.#request = request;
    this.#ports = ports;
    this.#handshakeMs = handshakeMs;
  }

  /** Whether the agent says that its sessions can be resumed. */
  get canResume(): boolean {
    return this.#canResume;
  }

  /** Whether the turn has ended, well or not. */
  get isOver(): boolean {
    return this.#isOver;
  }

  start(): void {
    const clientCapabilities = { fs: { readTextFile: false, writeTextFile: false }, terminal: false };
    const params = { protocolVersion: 1, clientCapabilities, clientInfo: { name: 'sluice', version: VERSION } };
    this.#ask('initialize', params, (result) => {
      const version = field(result, 'protocolVersion');
      if (version !== 1)
        return this.#break(`it speaks version ${JSON.stringify(version) ?? 'unknown'} of the protocol, not 1`);
      const capabilities = objectField(result, 'agentCapabilities') ?? {};
      const sessions = objectField(capabilities, 'sessionCapabilities') ?? {};
      const canLoad = field(capabilities, 'loadSession') === true;
      const canResume = objectField(sessions, 'resume') !== null;
      this.#canResume = canLoad || canResume;
      this.#authenticate(result, () => this.#openSession({ canLoad, canResume }));
    });
  }

  /** Takes what the agent printed; it may be cut anywhere. */
  receive(bytes: Uint8Array): void {
    this.#reader.push(bytes);
  }

  /** Answers a permission request with an option, or without one, which denies. `about` is kept in the recording. */
  answer(number: number, optionId: string | null, about: object): void {
    const id = this.#questions.get(number);
    if (id === undefined) return;
    this.#questions.delete(number);
    const outcome = optionId === null ? { outcome: 'cancelled' } : { outcome: 'selected', optionId };
    this.#reply(id, { result: { outcome, _meta: { sluice: about } } });
  }

  /** Asks the agent to stop, and denies what it still asks for. */
  cancel(about: object): void {
    if (this.#isOver || this.#sessionId === null) return;
    this.#ports.send({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: this.#sessionId } });
    for (const number of this.#questions.keys()) this.answer(number, null, about);
  }

  /** Nothing is expected any more. */
  close(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #authenticate(initialized: object, next: () => void): void {
    const { authenticate: methodId } = this.#request;
    const isOffered = arrayField(initialized, 'authMethods').some(
      (method) => isRecord(method) && field(method, 'id') === methodId,
    );
    if (methodId === undefined || !isOffered) return next();
    this.#ask('authenticate', { methodId }, next);
  }

  #openSession(can: { readonly canLoad: boolean; readonly canResume: boolean }): void {
    const { workdir: cwd, sessionId } = this.#request;
    if (sessionId === null) {
      return this.#ask('session/new', { cwd, mcpServers: [] }, (result) => {
        const id = nameField(result, 'sessionId');
        if (id === null) return this.#break('it opened a session without an id');
        this.#prepareSession(id, result);
      });
    }
    const params = { sessionId, cwd, mcpServers: [] };
    const lost = (why: string): void => {
      this.close();
      this.#ports.onSessionLost(why);
    };
    const load = (): void =>
      can.canLoad
        ? this.#ask(
            'session/load',
            params,
            (result) => this.#prepareSession(sessionId, result),
            () => lost('the agent refused to load it'),
          )
        : lost('the agent cannot load sessions');
    if (!can.canResume) return load();
    this.#ask('session/resume', params, (result) => this.#prepareSession(sessionId, result), load);
  }

  /** Chooses mode and model, then prompts. */
  #prepareSession(sessionId: string, opened: object): void {
    this.#sessionId = sessionId;
    const mode = this.#request.keepMode ? null : chooseMode(opened);
    const { model } = this.#request;
    const prompt = (): void => this.#prompt(sessionId);
    const setModel = (): void =>
      model === undefined ? prompt() : this.#ask('session/set_model', { sessionId, modelId: model }, prompt);
    if (mode === null) return setModel();
    this.#ask('session/set_mode', { sessionId, modeId: mode }, setModel, setModel);
  }

  #prompt(sessionId: string): void {
    const prompt = [{ type: 'text', text: this.#request.prompt }];
    const end = (): void => this.#end();
    this.#send('session/prompt', { sessionId, prompt }, end, end);
    clearTimeout(this.#timer);
  }

  #end(): void {
    if (this.#isOver) return;
    this.close();
    this.#ports.onEnd();
  }

  /** Asks the agent; a refusal ends the conversation unless `refused` goes on. */
  #ask(method: string, params: object, next: (result: object) => void, refused?: () => void): void {
    clearTimeout(this.#timer);
    const seconds = Math.round(this.#handshakeMs / 1000);
    this.#timer = setTimeout(() => this.#break(`it did not answer ${method} within ${seconds} s`), this.#handshakeMs);
    this.#timer.unref();
    this.#send(method, params, next, refused ?? (() => this.#end()));
  }

  #send(method: string, params: object, next: (result: object) => void, refused: () => void): void {
    const id = this.#nextId;
    this.#nextId += 1;
    this.#sent.set(id, (message) => (message.kind === 'result' ? next(resultFields(message.result)) : refused()));
    this.#ports.send({ jsonrpc: '2.0', id, method, params });
  }

  #read(message: RpcMessage | null): void {
    if (this.#isOver) return;
    if (message === null) return this.#readStrayLine();
    switch (message.kind) {
      case 'notification':
        return;
      case 'request':
        return this.#readRequest(message.id, message.method, message.params);
      case 'result':
      case 'error': {
        const settle = message.id === null ? undefined : this.#sent.get(message.id);
        if (message.id === null || settle === undefined) {
          if (message.kind === 'error' && message.id === null) return this.#end();
          return this.#break(`it answered ${JSON.stringify(message.id)}, which is no open request`);
        }
        this.#sent.delete(message.id);
        return settle(message);
      }
    }
  }

  #readStrayLine(): void {
    this.#strayLines += 1;
    if (this.#sessionId === null && this.#strayLines > MAX_STRAY_LINES)
      this.#break('it prints something else than messages; is it started with the right options?');
  }

  #readRequest(id: RpcId, method: string, params: object): void {
    this.#requests += 1;
    if (this.#requests > MAX_REQUESTS) return this.#break(`it made more than ${MAX_REQUESTS} requests`);
    if (this.#asked.has(id)) return this.#break(`it used the request id ${JSON.stringify(id)} twice`);
    this.#asked.add(id);
    switch (method) {
      case PERMISSION_METHOD: {
        if (readPermissionRequest(params) === null) return this.#refuse(id, INVALID_PARAMS, 'toolCall is missing');
        this.#permissions += 1;
        this.#questions.set(this.#permissions, id);
        const call = objectField(params, 'toolCall') ?? {};
        return this.#ports.onPermission(this.#permissions, nameField(call, 'kind'));
      }
      case 'fs/read_text_file': {
        const lines = { line: countField(params, 'line'), limit: countField(params, 'limit') };
        const read = async () => ({ content: await this.#ports.readFile(nameField(params, 'path') ?? '', lines) });
        return void this.#perform(id, read);
      }
      case 'fs/write_text_file': {
        const content = field(params, 'content');
        if (typeof content !== 'string') return this.#refuse(id, INVALID_PARAMS, 'content is missing');
        const write = async () => {
          await this.#ports.writeFile(nameField(params, 'path') ?? '', content);
          return {};
        };
        return void this.#perform(id, write);
      }
      default:
        return this.#refuse(id, METHOD_NOT_FOUND, `Method not found: ${method.slice(0, 100)}`);
    }
  }

  async #perform(id: RpcId, work: () => Promise<object>): Promise<void> {
    try {
      this.#reply(id, { result: await work() });
    } catch (error) {
      this.#refuse(id, REFUSED, getErrorMessage(error));
    }
  }

  #refuse(id: RpcId, code: number, message: string): void {
    this.#reply(id, { error: { code, message } });
  }

  #reply(id: RpcId, answer: object): void {
    this.#asked.delete(id);
    this.#ports.send({ jsonrpc: '2.0', id, ...answer });
  }

  #break(reason: string): void {
    if (this.#isOver) return;
    this.close();
    this.#ports.onBroken(reason);
  }
}

/** The mode to change to, so that the agent asks; null where it does already, or knows no such mode. */
function chooseMode(opened: object): string | null {
  const modes = objectField(opened, 'modes');
  if (modes === null) return null;
  const current = nameField(modes, 'currentModeId');
  const offered = arrayField(modes, 'availableModes').flatMap((mode) =>
    isRecord(mode) ? (nameField(mode, 'id') ?? []) : [],
  );
  const careful = ASKING_MODES.find((mode) => offered.includes(mode));
  return careful === undefined || ASKING_MODES.some((mode) => mode === current) ? null : careful;
}
