import { get, isApproval, type RpcId } from '../../events/index.js';
import { VERSION } from '../../base/files/index.js';
import type { AgentClientPorts, AgentRequest, AnswerAuthor } from './agent-client.js';
import type { Attachment } from '../ports/run-inputs.js';
import { RpcClient } from './rpc-client.js';

const INVALID_PARAMS = -32_602;

export class AppServerClient extends RpcClient {
  /** Always possible, because Codex stores its threads in files. */
  readonly canResume = true;
  #threadId: string | null = null;
  #turnId: string | null = null;

  constructor(request: AgentRequest, ports: AgentClientPorts) {
    // Codex omits the JSON-RPC version.
    super(request, ports, 'codex', {});
  }

  start(prompt: string): void {
    const clientInfo = { name: 'sluice', title: 'Sluice', version: VERSION };
    this.handshake('initialize', { clientInfo }, () =>
      this.#openThread(() => this.#prompt(prompt, this.request.attachments)),
    );
  }

  prompt(text: string): void {
    this.#prompt(text);
  }

  #prompt(text: string, images: readonly Attachment[] = []): void {
    this.beginTurn();
    this.#turnId = null;
    const imageItems = images.map(({ mimeType, data }) => ({ type: 'image', url: `data:${mimeType};base64,${data}` }));
    const params = { threadId: this.#threadId, input: [{ type: 'text', text, text_elements: [] }, ...imageItems] };
    const started = (result: object): void => {
      this.#turnId = readTurn(result);
    };
    this.sendRequest('turn/start', params, started, () => this.endTurn());
  }

  protected sendAnswer(id: RpcId, optionId: string | null, author: AnswerAuthor): void {
    this.reply(id, { decision: optionId ?? 'decline', _meta: { sluice: author } });
  }

  cancel(author: AnswerAuthor): void {
    if (this.isOver || this.#threadId === null) return;
    this.denyAll(author);
    if (this.#turnId === null) return;
    const params = { threadId: this.#threadId, turnId: this.#turnId };
    this.sendRequest('turn/interrupt', params, ignore, ignore);
  }

  #openThread(next: () => void): void {
    const { workdir: cwd, sessionId, model, thread = {} } = this.request;
    this.notify('initialized');
    const settings = { cwd, ...thread, ...(model === undefined ? {} : { model }) };
    const opened = (result: object): void => {
      this.#threadId = get.name(get.object(result, 'thread'), 'id');
      if (this.#threadId === null) return this.reportViolation('it opened a thread without an id');
      next();
    };
    if (sessionId === null) return this.handshake('thread/start', settings, opened);
    const lost = (): void => this.loseSession('Codex refused to resume its thread');
    // The history is excluded, because earlier attempts have recorded it.
    this.handshake('thread/resume', { threadId: sessionId, excludeTurns: true, ...settings }, opened, lost);
  }

  protected readRequest(id: RpcId, method: string, params: object): void {
    if (!isApproval(method)) return this.rejectMethod(id, method);
    if (get.name(params, 'itemId') === null) return this.refuse(id, INVALID_PARAMS, 'itemId is missing');
    this.addQuestion(id, null);
  }

  protected readNotification(method: string, params: object): void {
    if (get.name(params, 'threadId') !== this.#threadId || this.#threadId === null) return;
    if (method === 'turn/started') this.#turnId = readTurn(params) ?? this.#turnId;
    if (method === 'serverRequest/resolved') {
      // Printed for every resolved request: Codex no longer needs a response to one that is open.
      const id = get.field(params, 'requestId');
      return this.withdraw((open) => open === id);
    }
    if (method !== 'turn/completed') return;
    const turn = readTurn(params);
    if (this.#turnId === null || turn === null || turn === this.#turnId) this.endTurn();
  }
}

function ignore(): void {}

function readTurn(params: object): string | null {
  return get.name(get.object(params, 'turn'), 'id');
}
