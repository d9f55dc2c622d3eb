import { get, PERMISSION_METHOD, isRecord, readPermissionRequest, type RpcId } from '../../events/index.js';
import { getErrorMessage } from '../../base/index.js';
import { VERSION } from '../../base/files/index.js';
import type { AgentClientPorts, AgentRequest, AnswerAuthor } from './agent-client.js';
import { findUnsupported } from '../ports/run-inputs.js';
import type { Attachment, AcceptedInputs, McpServer, RunInputs } from '../ports/run-inputs.js';
import { RpcClient } from './rpc-client.js';

/** Modes in which agents request permission before changing anything, strictest first. */
const ASKING_MODES = ['default', 'ask', 'read-only', 'workspace-write'] as const;

const INVALID_PARAMS = -32_602;
const REFUSED = -32_000;

const INITIALIZE = {
  protocolVersion: 1,
  clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
  clientInfo: { name: 'sluice', version: VERSION },
};

export class AcpClient extends RpcClient {
  canResume = false;
  #sessionId: string | null = null;

  constructor(request: AgentRequest, ports: AgentClientPorts) {
    super(request, ports, 'acp', { jsonrpc: '2.0' });
  }

  get #inputs(): RunInputs {
    const { attachments = [], mcpServers = [] } = this.request;
    return { attachments, mcpServers };
  }

  /** Starts a conversation without a prompt, to find out what the agent accepts. */
  findAccepted(next: (accepts: AcceptedInputs) => void): void {
    this.handshake('initialize', INITIALIZE, (result) => next(readAccepts(result)));
  }

  start(prompt: string): void {
    this.handshake('initialize', INITIALIZE, (result) => {
      const version = get.field(result, 'protocolVersion');
      if (version !== 1)
        return this.reportViolation(`it uses protocol version ${JSON.stringify(version) ?? 'unknown'} instead of 1`);
      const capabilities = get.object(result, 'agentCapabilities') ?? {};
      const sessions = get.object(capabilities, 'sessionCapabilities') ?? {};
      const canLoad = get.field(capabilities, 'loadSession') === true;
      const canResume = get.object(sessions, 'resume') !== null;
      this.canResume = canLoad || canResume;
      const unsupported = findUnsupported(this.#inputs, readAccepts(result));
      if (unsupported !== undefined) {
        const reason = `The prompt was not sent: the agent does not accept ${unsupported}.`;
        return this.fail({ verdict: 'not_started', reason, hint: 'Use another engine.' });
      }
      const content = [{ type: 'text', text: prompt }, ...this.#inputs.attachments.map(toContentBlock)];
      const next = (id: string, opened: object): void => this.#prepareSession(id, opened, () => this.#prompt(content));
      this.#authenticate(result, () => this.#openSession({ canLoad, canResume }, next));
    });
  }

  prompt(text: string): void {
    this.#prompt([{ type: 'text', text }]);
  }

  #prompt(prompt: readonly object[]): void {
    this.beginTurn();
    const end = (): void => this.endTurn();
    this.sendRequest('session/prompt', { sessionId: this.#sessionId, prompt }, end, end);
  }

  protected sendAnswer(id: RpcId, optionId: string | null, author: AnswerAuthor): void {
    const outcome = optionId === null ? { outcome: 'cancelled' } : { outcome: 'selected', optionId };
    this.reply(id, { outcome, _meta: { sluice: author } });
  }

  cancel(author: AnswerAuthor): void {
    if (this.isOver || this.#sessionId === null) return;
    this.notify('session/cancel', { sessionId: this.#sessionId });
    this.denyAll(author);
  }

  #authenticate(initialized: object, next: () => void): void {
    const { authenticate: methodId } = this.request;
    const isOffered = get
      .array(initialized, 'authMethods')
      .some((method) => isRecord(method) && get.field(method, 'id') === methodId);
    if (methodId === undefined || !isOffered) return next();
    // A logged-in agent can reject this method; without a login, it rejects the session later.
    this.handshake('authenticate', { methodId }, next, next);
  }

  #openSession(
    { canLoad, canResume }: { readonly canLoad: boolean; readonly canResume: boolean },
    next: (id: string, opened: object) => void,
  ): void {
    const { workdir: cwd, sessionId } = this.request;
    const mcpServers = this.#inputs.mcpServers.map(toAcpServer);
    if (sessionId === null) {
      return this.handshake('session/new', { cwd, mcpServers }, (result) => {
        const id = get.name(result, 'sessionId');
        if (id === null) return this.reportViolation('it opened a session without an id');
        next(id, result);
      });
    }
    const params = { sessionId, cwd, mcpServers };
    const opened = (result: object): void => next(sessionId, result);
    const load = (): void =>
      canLoad
        ? this.handshake('session/load', params, opened, () => this.loseSession('the agent refused to load it'))
        : this.loseSession('the agent cannot load sessions');
    if (!canResume) return load();
    this.handshake('session/resume', params, opened, load);
  }

  #prepareSession(sessionId: string, opened: object, next: () => void): void {
    this.#sessionId = sessionId;
    const mode = this.request.keepMode ? null : chooseMode(opened);
    const { model } = this.request;
    const setModel = (): void =>
      model === undefined ? next() : this.handshake('session/set_model', { sessionId, modelId: model }, next);
    if (mode === null) return setModel();
    this.handshake('session/set_mode', { sessionId, modeId: mode }, setModel, setModel);
  }

  protected readRequest(id: RpcId, method: string, params: object): void {
    switch (method) {
      case PERMISSION_METHOD: {
        if (readPermissionRequest(params) === null) return this.refuse(id, INVALID_PARAMS, 'toolCall is missing');
        return this.addQuestion(id, get.name(get.object(params, 'toolCall'), 'kind'));
      }
      case 'fs/read_text_file': {
        const lines = { line: get.count(params, 'line'), limit: get.count(params, 'limit') };
        const read = async () => ({ content: await this.ports.readFile(get.name(params, 'path') ?? '', lines) });
        return void this.#perform(id, read);
      }
      case 'fs/write_text_file': {
        const content = get.field(params, 'content');
        if (typeof content !== 'string') return this.refuse(id, INVALID_PARAMS, 'content is missing');
        const write = async () => {
          await this.ports.writeFile(get.name(params, 'path') ?? '', content);
          return {};
        };
        return void this.#perform(id, write);
      }
      default:
        return this.rejectMethod(id, method);
    }
  }

  protected readNotification(): void {}

  async #perform(id: RpcId, work: () => Promise<object>): Promise<void> {
    try {
      this.reply(id, await work());
    } catch (error) {
      this.refuse(id, REFUSED, getErrorMessage(error));
    }
  }
}

/** Chooses a mode in which the agent requests permissions; null if it already is, or has no such mode. */
function chooseMode(opened: object): string | null {
  const modes = get.object(opened, 'modes');
  if (modes === null) return null;
  const current = get.name(modes, 'currentModeId');
  const availableModes = get
    .array(modes, 'availableModes')
    .flatMap((mode) => (isRecord(mode) ? (get.name(mode, 'id') ?? []) : []));
  const strictest = ASKING_MODES.find((mode) => availableModes.includes(mode));
  return strictest === undefined || ASKING_MODES.some((mode) => mode === current) ? null : strictest;
}

/** Returns the inputs besides text that an agent accepts, from its response to `initialize`. */
function readAccepts(initialized: object): AcceptedInputs {
  const capabilities = get.object(initialized, 'agentCapabilities') ?? {};
  const prompt = get.object(capabilities, 'promptCapabilities') ?? {};
  const mcp = get.object(capabilities, 'mcpCapabilities') ?? {};
  return {
    attachments: [
      ...(get.field(prompt, 'image') === true ? (['image'] as const) : []),
      ...(get.field(prompt, 'audio') === true ? (['audio'] as const) : []),
      ...(get.field(prompt, 'embeddedContext') === true ? (['file'] as const) : []),
    ],
    // Every agent must accept servers over stdio.
    mcpServers: ['stdio', ...(['http', 'sse'] as const).filter((type) => get.field(mcp, type) === true)],
  };
}

function toContentBlock({ kind, mimeType, data, uri }: Attachment): object {
  if (kind === 'file')
    return { type: 'resource', resource: { blob: data, mimeType, uri: uri ?? 'file:///attachment' } };
  return { type: kind, data, mimeType, ...(uri === undefined || kind === 'audio' ? {} : { uri }) };
}

/** Converts a server to the protocol's format, where stdio servers have no type. */
function toAcpServer({ type, ...server }: McpServer): object {
  return type === 'stdio' ? server : { type, ...server };
}
