import { get, isApproval, type RpcId } from '../../events/index.js';
import { VERSION } from '../../base/files/index.js';
import type { AgentClient, AgentClientPorts, AgentRequest, AnswerAuthor, ClientLimits } from './approvals.js';
import type { Attachment } from '../ports/run-inputs.js';
import { RpcPeer } from './rpc-peer.js';

const INVALID_PARAMS = -32_602;

export class AppServerClient implements AgentClient {
  /** Always possible, because Codex stores its threads in files. */
  readonly canResume = true;
  readonly #request: AgentRequest;
  readonly #ports: AgentClientPorts;
  readonly #peer: RpcPeer;
  readonly #questions = new Map<number, RpcId>();
  #permissions = 0;
  #threadId: string | null = null;
  #turnId: string | null = null;
  #isOver = false;

  constructor(request: AgentRequest, ports: AgentClientPorts, { handshakeMs }: ClientLimits = {}) {
    this.#request = request;
    this.#ports = ports;
    this.#peer = new RpcPeer(
      {
        send: (message) => ports.send(message),
        onRequest: (id, method, params) => this.#readRequest(id, method, params),
        onNotification: (method, params) => this.#readNotification(method, params),
        onError: () => this.#end(),
        onProtocolViolation: (reason) => {
          this.#isOver = true;
          ports.onProtocolViolation(reason);
        },
      },
      // Codex omits the JSON-RPC version.
      { engine: 'codex', envelope: {}, handshakeMs },
    );
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  start(prompt: string): void {
    const end = (): void => this.#end();
    const clientInfo = { name: 'sluice', title: 'Sluice', version: VERSION };
    this.#peer.requestWithTimeout(
      'initialize',
      { clientInfo },
      () => this.#openThread(() => this.#prompt(prompt, this.#request.attachments)),
      end,
    );
  }

  prompt(text: string): void {
    this.#prompt(text);
  }

  #prompt(text: string, images: readonly Attachment[] = []): void {
    this.#isOver = false;
    this.#peer.isIdle = false;
    this.#permissions = 0;
    this.#questions.clear();
    this.#turnId = null;
    const imageItems = images.map(({ mimeType, data }) => ({ type: 'image', url: `data:${mimeType};base64,${data}` }));
    const params = { threadId: this.#threadId, input: [{ type: 'text', text, text_elements: [] }, ...imageItems] };
    this.#peer.endHandshake();
    const started = (result: object): void => {
      const turn = get.object(result, 'turn');
      this.#turnId = turn === null ? null : get.name(turn, 'id');
    };
    this.#peer.request('turn/start', params, started, () => this.#end());
  }

  receive(bytes: Uint8Array): void {
    this.#peer.receive(bytes);
  }

  answer(number: number, optionId: string | null, author: AnswerAuthor): void {
    const id = this.#questions.get(number);
    if (id === undefined) return;
    this.#questions.delete(number);
    this.#peer.reply(id, { decision: optionId ?? 'decline', _meta: { sluice: author } });
  }

  cancel(author: AnswerAuthor): void {
    if (this.#isOver || this.#threadId === null) return;
    for (const number of this.#questions.keys()) this.answer(number, null, author);
    if (this.#turnId === null) return;
    const params = { threadId: this.#threadId, turnId: this.#turnId };
    this.#peer.request(
      'turn/interrupt',
      params,
      () => undefined,
      () => undefined,
    );
  }

  close(): void {
    this.#isOver = true;
    this.#peer.close();
  }

  #openThread(next: () => void): void {
    const { workdir: cwd, sessionId, model, thread = {} } = this.#request;
    this.#peer.notify('initialized');
    const settings = { cwd, ...thread, ...(model === undefined ? {} : { model }) };
    const opened = (result: object): void => {
      const started = get.object(result, 'thread');
      this.#threadId = started === null ? null : get.name(started, 'id');
      if (this.#threadId === null) return this.#peer.reportViolation('it opened a thread without an id');
      next();
    };
    if (sessionId === null) return this.#peer.requestWithTimeout('thread/start', settings, opened, () => this.#end());
    const lost = (): void => {
      this.close();
      this.#ports.onSessionLost('Codex refused to resume its thread');
    };
    // The history is excluded, because earlier attempts have recorded it.
    this.#peer.requestWithTimeout(
      'thread/resume',
      { threadId: sessionId, excludeTurns: true, ...settings },
      opened,
      lost,
    );
  }

  #readRequest(id: RpcId, method: string, params: object): void {
    if (!isApproval(method)) return this.#peer.rejectMethod(id, method);
    if (get.name(params, 'itemId') === null) return this.#peer.refuse(id, INVALID_PARAMS, 'itemId is missing');
    this.#permissions += 1;
    this.#questions.set(this.#permissions, id);
    this.#ports.onPermission(this.#permissions, null);
  }

  #readNotification(method: string, params: object): void {
    if (get.name(params, 'threadId') !== this.#threadId || this.#threadId === null) return;
    if (method === 'turn/started') this.#turnId = readTurn(params) ?? this.#turnId;
    if (method === 'serverRequest/resolved') return this.#readResolved(get.field(params, 'requestId'));
    if (method !== 'turn/completed') return;
    const turn = readTurn(params);
    if (this.#turnId === null || turn === null || turn === this.#turnId) this.#end();
  }

  /** Codex sends this for every resolved request; if the request is still open, Codex no longer needs a response. */
  #readResolved(id: unknown): void {
    for (const [number, requestId] of this.#questions) {
      if (requestId !== id) continue;
      this.#questions.delete(number);
      this.#ports.onWithdrawn(number);
    }
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#peer.isIdle = true;
    this.#peer.endHandshake();
    this.#ports.onEnd();
  }
}

function readTurn(params: object): string | null {
  const turn = get.object(params, 'turn');
  return turn === null ? null : get.name(turn, 'id');
}
