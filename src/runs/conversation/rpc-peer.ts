import { createRecordReader, readRpcMessage, getResultFields } from '../../events/index.js';
import type { EngineName, RpcId, RpcMessage } from '../../events/index.js';
import { HANDSHAKE_MS, MAX_REQUESTS, MAX_STRAY_LINES } from './approvals.js';

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
export class RpcPeer {
  readonly #ports: RpcPeerPorts;
  readonly #options: RpcPeerOptions;
  readonly #reader;
  readonly #sent = new Map<RpcId, (message: Extract<RpcMessage, { kind: 'result' | 'error' }>) => void>();
  /** The agent's requests without a response yet. */
  readonly #openAgentRequests = new Set<RpcId>();
  #nextId = 0;
  #agentRequestCount = 0;
  #strayLines = 0;
  #hasResponded = false;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** Whether the peer is between two prompts, when the agent's messages are ignored. */
  isIdle = false;

  constructor(ports: RpcPeerPorts, options: RpcPeerOptions) {
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
    clearTimeout(this.#timer);
    const { handshakeMs = HANDSHAKE_MS } = this.#options;
    const seconds = Math.round(handshakeMs / 1000);
    this.#timer = setTimeout(
      () => this.reportViolation(`it did not respond to ${method} within ${seconds} s`),
      handshakeMs,
    );
    this.#timer.unref();
    this.request(method, params, next, refused);
  }

  /** Ends the handshake: later requests have no time limit. */
  endHandshake(): void {
    clearTimeout(this.#timer);
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

  reportViolation(reason: string): void {
    if (this.#isClosed) return;
    this.close();
    this.#ports.onProtocolViolation(reason);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #send(message: object): void {
    this.#ports.send({ ...this.#options.envelope, ...message });
  }

  #read(message: RpcMessage | null): void {
    if (this.#isClosed || this.isIdle) return;
    if (message === null) return this.#readStrayLine();
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
        this.#hasResponded = true;
        this.#sent.delete(message.id);
        return settle(message);
      }
    }
  }

  #readStrayLine(): void {
    this.#strayLines += 1;
    if (!this.#hasResponded && this.#strayLines > MAX_STRAY_LINES)
      this.reportViolation("its output is not in the protocol's format; check the options in its command");
  }

  #readRequest(id: RpcId, method: string, params: object): void {
    this.#agentRequestCount += 1;
    if (this.#agentRequestCount > MAX_REQUESTS)
      return this.reportViolation(`it made more than ${MAX_REQUESTS} requests`);
    if (this.#openAgentRequests.has(id))
      return this.reportViolation(`it used the request id ${JSON.stringify(id)} twice`);
    this.#openAgentRequests.add(id);
    this.#ports.onRequest(id, method, params);
  }
}
