import { createRecordReader, readRpcMessage, getResultFields } from '../../events/index.js';
import type { EngineName, RpcId, RpcMessage } from '../../events/index.js';
import { ProtocolGuard, TurnClient } from './agent-client.js';
import type { AgentClientPorts, AgentRequest } from './agent-client.js';

interface RpcPeerPorts {
  send(message: object): void;
  onRequest(id: RpcId, method: string, params: object): void;
  onNotification(method: string, params: object): void;
  /** Called for an error from the agent that does not belong to a request. */
  onError(): void;
  onProtocolViolation(reason: string): void;
}

interface RpcPeerOptions {
  /** The engine that defines the output format. */
  readonly engine: EngineName;
  /** Fields added to every message. */
  readonly envelope: object;
  readonly handshakeMs?: number | undefined;
}

const METHOD_NOT_FOUND = -32_601;

/** One side of a JSON-RPC conversation: numbers requests, matches responses, and detects protocol violations. */
export class RpcPeer extends ProtocolGuard {
  readonly #ports: RpcPeerPorts;
  readonly #options: RpcPeerOptions;
  readonly #reader;
  readonly #sent = new Map<RpcId, (message: Extract<RpcMessage, { kind: 'result' | 'error' }>) => void>();
  /** The agent's requests without a response yet. */
  readonly #openAgentRequests = new Set<RpcId>();
  #nextId = 0;
  /** Whether the peer is between two prompts, when the agent's messages are ignored. */
  isIdle = false;

  constructor(ports: RpcPeerPorts, options: RpcPeerOptions) {
    super((reason) => ports.onProtocolViolation(reason), options.handshakeMs);
    this.#ports = ports;
    this.#options = options;
    this.#reader = createRecordReader(options.engine, (record) =>
      this.#read(record === null ? null : readRpcMessage(record)),
    );
  }

  receive(bytes: Uint8Array): void {
    this.#reader.push(bytes);
  }

  /** Sends a handshake request, which has a time limit. */
  requestWithTimeout(method: string, params: object, next: (result: object) => void, refused: () => void): void {
    this.startHandshake(method);
    this.request(method, params, next, refused);
  }

  /** Sends a request without a time limit. */
  request(method: string, params: object, next: (result: object) => void, refused: () => void): void {
    const id = this.#nextId;
    this.#nextId += 1;
    this.#sent.set(id, (message) => (message.kind === 'result' ? next(getResultFields(message.result)) : refused()));
    this.#send({ id, method, params });
  }

  notify(method: string, params?: object): void {
    this.#send({ method, ...(params === undefined ? {} : { params }) });
  }

  reply(id: RpcId, result: object): void {
    this.#openAgentRequests.delete(id);
    this.#send({ id, result });
  }

  refuse(id: RpcId, code: number, message: string): void {
    this.#openAgentRequests.delete(id);
    this.#send({ id, error: { code, message } });
  }

  rejectMethod(id: RpcId, method: string): void {
    this.refuse(id, METHOD_NOT_FOUND, `Method not found: ${method.slice(0, 100)}`);
  }

  #send(message: object): void {
    this.#ports.send({ ...this.#options.envelope, ...message });
  }

  #read(message: RpcMessage | null): void {
    if (this.isClosed || this.isIdle) return;
    if (message === null) return this.readStrayLine();
    switch (message.kind) {
      case 'notification':
        return this.#ports.onNotification(message.method, message.params);
      case 'request':
        return this.#readRequest(message.id, message.method, message.params);
      case 'result':
      case 'error': {
        const settle = message.id === null ? undefined : this.#sent.get(message.id);
        if (message.id === null || settle === undefined) {
          if (message.kind === 'error' && message.id === null) return this.#ports.onError();
          return this.reportViolation(`it responded to ${JSON.stringify(message.id)}, which is not an open request`);
        }
        this.hasResponded = true;
        this.#sent.delete(message.id);
        return settle(message);
      }
    }
  }

  #readRequest(id: RpcId, method: string, params: object): void {
    if (!this.acceptRequest(id, this.#openAgentRequests.has(id))) return;
    this.#openAgentRequests.add(id);
    this.#ports.onRequest(id, method, params);
  }
}

/** A client that speaks JSON-RPC. */
export abstract class RpcClient extends TurnClient<RpcId> {
  protected readonly peer: RpcPeer;

  constructor(request: AgentRequest, ports: AgentClientPorts, options: RpcPeerOptions) {
    super(request, ports);
    this.peer = new RpcPeer(
      {
        send: (message) => ports.send(message),
        onRequest: (id, method, params) => this.readRequest(id, method, params),
        onNotification: (method, params) => this.readNotification(method, params),
        onError: () => this.endTurn(),
        onProtocolViolation: (reason) => {
          this.close();
          ports.onProtocolViolation(reason);
        },
      },
      options,
    );
  }

  protected abstract readRequest(id: RpcId, method: string, params: object): void;
  protected abstract readNotification(method: string, params: object): void;

  receive(bytes: Uint8Array): void {
    this.peer.receive(bytes);
  }

  override close(): void {
    super.close();
    this.peer.close();
  }

  protected override beginTurn(): void {
    super.beginTurn();
    this.peer.isIdle = false;
    this.peer.endHandshake();
  }

  protected override endTurn(): void {
    if (this.isOver) return;
    this.peer.isIdle = true;
    this.peer.endHandshake();
    super.endTurn();
  }

  /** Ends the conversation, because its session is gone. */
  protected loseSession(reason: string): void {
    this.close();
    this.ports.onSessionLost(reason);
  }
}
