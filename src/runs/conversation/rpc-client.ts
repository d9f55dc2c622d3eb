import { createRecordReader, readRpcMessage, getResultFields } from '../../events/index.js';
import type { EngineName, RpcId, RpcMessage } from '../../events/index.js';
import { TurnClient, type AgentClientPorts, type AgentRequest } from './agent-client.js';

const METHOD_NOT_FOUND = -32_601;

/** A client that speaks JSON-RPC: numbers requests, matches responses, and detects protocol violations. */
export abstract class RpcClient extends TurnClient<RpcId> {
  readonly #envelope: object;
  readonly #reader;
  readonly #sent = new Map<RpcId, (message: Extract<RpcMessage, { kind: 'result' | 'error' }>) => void>();
  /** The agent's requests without a response yet. */
  readonly #openAgentRequests = new Set<RpcId>();
  #nextId = 0;

  /** `engine` defines the output format; the fields of `envelope` are added to every message. */
  constructor(request: AgentRequest, ports: AgentClientPorts, engine: EngineName, envelope: object) {
    super(request, ports);
    this.#envelope = envelope;
    this.#reader = createRecordReader(engine, (record) => this.#read(record === null ? null : readRpcMessage(record)));
  }

  protected abstract readRequest(id: RpcId, method: string, params: object): void;
  protected abstract readNotification(method: string, params: object): void;

  receive(bytes: Uint8Array): void {
    this.#reader.push(bytes);
  }

  /** Sends a handshake request, which has a time limit. A rejection ends the turn unless `refused` is passed. */
  protected handshake(method: string, params: object, next: (result: object) => void, refused?: () => void): void {
    this.startHandshake(method);
    this.sendRequest(method, params, next, refused ?? (() => this.endTurn()));
  }

  protected sendRequest(method: string, params: object, next: (result: object) => void, refused: () => void): void {
    const id = this.#nextId;
    this.#nextId += 1;
    this.#sent.set(id, (message) => (message.kind === 'result' ? next(getResultFields(message.result)) : refused()));
    this.#write({ id, method, params });
  }

  protected notify(method: string, params?: object): void {
    this.#write({ method, ...(params === undefined ? {} : { params }) });
  }

  protected reply(id: RpcId, result: object): void {
    this.#openAgentRequests.delete(id);
    this.#write({ id, result });
  }

  protected refuse(id: RpcId, code: number, message: string): void {
    this.#openAgentRequests.delete(id);
    this.#write({ id, error: { code, message } });
  }

  protected rejectMethod(id: RpcId, method: string): void {
    this.refuse(id, METHOD_NOT_FOUND, `Method not found: ${method.slice(0, 100)}`);
  }

  protected loseSession(reason: string): void {
    const lost = `The session ${this.request.sessionId ?? ''} cannot be resumed: ${reason}.`;
    this.fail({ verdict: 'session_lost', reason: lost, hint: 'Start a new run.' });
  }

  #write(message: object): void {
    this.ports.send({ ...this.#envelope, ...message });
  }

  #read(message: RpcMessage | null): void {
    if (this.isDeaf) return;
    if (message === null) return this.readStrayLine();
    switch (message.kind) {
      case 'notification':
        return this.readNotification(message.method, message.params);
      case 'request':
        if (!this.acceptRequest(message.id, this.#openAgentRequests.has(message.id))) return;
        this.#openAgentRequests.add(message.id);
        return this.readRequest(message.id, message.method, message.params);
      case 'result':
      case 'error': {
        const settle = message.id === null ? undefined : this.#sent.get(message.id);
        if (message.id === null || settle === undefined) {
          // An error that does not belong to a request.
          if (message.kind === 'error' && message.id === null) return this.endTurn();
          return this.reportViolation(`it responded to ${JSON.stringify(message.id)}, which is not an open request`);
        }
        this.hasResponded = true;
        this.#sent.delete(message.id);
        return settle(message);
      }
    }
  }
}
