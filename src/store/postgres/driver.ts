import type { EventEmitter } from 'node:events';
import type { Row } from '../driver.js';

export interface QueryResult {
  readonly rows: Row[];
  /** The number of rows that the statement changed or returned. */
  readonly rowCount: number | null;
}

/** Executes statements: the pool, or one connection inside a transaction. */
export interface Queryable {
  /** Executes a statement. One with values is parsed once per connection. */
  query(text: string, values?: readonly unknown[]): Promise<QueryResult>;
}

/** A statement as the driver accepts it. */
export interface DriverQuery {
  readonly text: string;
  readonly values?: unknown[];
  readonly name?: string;
  /** Overrides the client's timeout for this statement. */
  readonly query_timeout?: number;
}

/** The subset of a `pg` pool that this store uses. */
export interface DriverPool {
  /** The number of connections, including those being opened. */
  readonly totalCount: number;
  connect(): Promise<DriverConnection>;
  query(query: DriverQuery): Promise<QueryResult>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'connect', listener: (connection: Pick<EventEmitter, 'on'>) => void): unknown;
  end(): Promise<void>;
}

/** A connection from the pool; releasing it with an error closes it. */
export interface DriverConnection {
  query(query: DriverQuery | string): Promise<QueryResult>;
  release(error?: Error | boolean): void;
}

/** The subset of the listening connection that this store uses. */
export interface DriverClient extends Pick<EventEmitter, 'on' | 'removeAllListeners'> {
  connect(): Promise<unknown>;
  query(text: string): Promise<unknown>;
  end(): Promise<void>;
}
