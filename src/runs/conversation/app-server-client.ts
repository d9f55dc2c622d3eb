import { get, isApproval, type RpcId } from '../../events/index.js';
import { VERSION } from '../../base/files/index.js';
import type { AgentClientPorts, AgentRequest, AnswerAuthor, ClientLimits } from './agent-client.js';
import type { Attachment } from '../ports/run-inputs.js';
import { RpcClient } from './rpc-peer.js';

const INVALID_PARAMS = -32_602;

export class AppServerClient extends RpcClient {
  /** Always possible, because Codex stores its threads in files. */
  readonly canResume = true;
  #threadId: string | null = null;
  #turnId: string | null = null;

  constructor(request: AgentRequest, ports: AgentClientPorts, { handshakeMs }: ClientLimits = {}) {
    // Codex omits the JSON-RPC version.
    super(request, ports, { engine: 'codex', envelope: {}, handshakeMs });
  }

  start(prompt: string): void {
    const end = (): void => this.endTurn();
    const clientInfo = { name: 'sluice', title: 'Sluice', version: VERSION };
    this.peer.requestWithTimeout(
      'initialize',
      { clientInfo },
      () => this.#openThread(() => this.#prompt(prompt, this.request.attachments)),
      end,
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
      const turn = get.object(result, 'turn');
      this.#turnId = turn === null ? null : get.name(turn, 'id');
    };
    this.peer.request('turn/start', params, started, () => this.endTurn());
  }

  protected sendAnswer(id: RpcId, optionId: string | null, author: AnswerAuthor): void {
    this.peer.reply(id, { decision: optionId ?? 'decline', _meta: { sluice: author } });
  }

  cancel(author: AnswerAuthor): void {
    if (this.isOver || this.#threadId === null) return;
    this.denyAll(author);
    if (this.#turnId === null) return;
    const params = { threadId: this.#threadId, turnId: this.#turnId };
    this.peer.request(
      'turn/interrupt',
      params,
      () => undefined,
      () => undefined,
    );
  }

  #openThread(next: () => void): void {
    const { workdir: cwd, sessionId, model, thread = {} } = this.request;
    this.peer.notify('initialized');
    const settings = { cwd, ...thread, ...(model === undefined ? {} : { model }) };
    const opened = (result: object): void => {
      const started = get.object(result, 'thread');
      this.#threadId = started === null ? null : get.name(started, 'id');
      if (this.#threadId === null) return this.peer.reportViolation('it opened a thread without an id');
      next();
    };
    if (sessionId === null) return this.peer.requestWithTimeout('thread/start', settings, opened, () => this.endTurn());
    const lost = (): void => this.loseSession('Codex refused to resume its thread');
    // The history is excluded, because earlier attempts have recorded it.
    this.peer.requestWithTimeout(
      'thread/resume',
      { threadId: sessionId, excludeTurns: true, ...settings },
      opened,
      lost,
    );
  }

  protected readRequest(id: RpcId, method: string, params: object): void {
    if (!isApproval(method)) return this.peer.rejectMethod(id, method);
    if (get.name(params, 'itemId') === null) return this.peer.refuse(id, INVALID_PARAMS, 'itemId is missing');
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

function readTurn(params: object): string | null {
  const turn = get.object(params, 'turn');
  return turn === null ? null : get.name(turn, 'id');
}
