import { connect } from 'node:net';
import type { Socket } from 'node:net';

/** The behaviour of a reader. */
export type SseBehaviour = 'steady' | 'reconnecting' | 'slow' | 'stuck';

/** One reader and its outcome. */
export interface SseReader {
  readonly behaviour: SseBehaviour;
  /** The number of the last event, if all events before it arrived once and in order. */
  readonly last: number;
  readonly mistakes: number;
  readonly hasEnded: boolean;
  readonly connections: number;
  /** The number of lag events. */
  readonly lags: number;
  /** Milliseconds from an event's creation to its arrival. */
  readonly delays: readonly number[];
  close(): void;
}

const RECONNECT_MS = 4000;
/** How long a slow reader reads between its pauses. */
const SLOW_READ_MS = 50;
/** One out of this many events is timed, if the reader is timed. */
const TIMED = 5;

/** Follows a stream with as little work as possible: a thousand readers share one processor with the server. */
export function openSseReader(
  url: string,
  {
    behaviour,
    isTimed,
    pauseMs,
  }: { readonly behaviour: SseBehaviour; readonly isTimed: boolean; readonly pauseMs: number },
): SseReader {
  const { hostname, port, pathname } = new URL(url);
  const delays: number[] = [];
  let [last, mistakes, connections, lags] = [0, 0, 0, 0];
  let hasEnded = false;
  let isOver = false;
  let socket: Socket | undefined;
  let timer: NodeJS.Timeout | undefined;

  function readBlock(block: string): void {
    if (block.startsWith('id: ')) {
      const seq = Number(block.slice(4, block.indexOf('\n')));
      if (seq === last + 1) last = seq;
      else mistakes += 1;
      if (isTimed && seq % TIMED === 0) delays.push(Date.now() - Date.parse(/"ts":"([^"]+)"/.exec(block)?.[1] ?? ''));
    } else if (block.startsWith('event: end')) hasEnded = true;
    else if (block.startsWith('event: lag')) lags += 1;
    else if (block.startsWith('event: gap')) mistakes += 1;
  }

  function open(): void {
    if (isOver || hasEnded) return;
    connections += 1;
    let rest = '';
    let isHead = true;
    const current = connect(Number(port), hostname, () => {
      current.write(
        `GET ${pathname} HTTP/1.1\r\nhost: ${hostname}:${port}\r\naccept: text/event-stream\r\n${last === 0 ? '' : `last-event-id: ${last}\r\n`}\r\n`,
      );
    });
    socket = current;
    current.setEncoding('latin1');
    current.on('data', (chunk: string) => {
      rest += chunk;
      if (isHead) {
        const end = rest.indexOf('\r\n\r\n');
        if (end === -1) return;
        if (rest.startsWith('HTTP/1.1 204')) hasEnded = true;
        rest = rest.slice(end + 4);
        isHead = false;
      }
      let from = 0;
      for (let end = rest.indexOf('\n\n'); end !== -1; end = rest.indexOf('\n\n', from)) {
        // The bare server uses chunked encoding, so chunk sizes precede some events.
        const start =
          rest.startsWith('\r\n', from) || /^[0-9a-f]+\r\n/.test(rest.slice(from, from + 8))
            ? rest.indexOf('id: ', from)
            : from;
        readBlock(rest.slice(start, end));
        from = end + 2;
      }
      rest = rest.slice(from);
    });
    current.on('error', () => undefined);
    current.on('close', () => {
      if (socket === current && !isOver && !hasEnded) setTimeout(open, 50);
    });
    behave(current);
  }

  function behave(current: Socket): void {
    clearTimeout(timer);
    if (behaviour === 'stuck') current.pause();
    if (behaviour === 'reconnecting') {
      timer = setTimeout(
        () => {
          socket = undefined;
          current.destroy();
          open();
        },
        RECONNECT_MS * (0.25 + Math.random()),
      );
    }
    if (behaviour === 'slow') pause(current);
  }

  function pause(current: Socket): void {
    current.pause();
    timer = setTimeout(() => {
      current.resume();
      timer = setTimeout(() => pause(current), SLOW_READ_MS);
    }, pauseMs);
  }

  open();
  return {
    behaviour,
    delays,
    get last() {
      return last;
    },
    get mistakes() {
      return mistakes;
    },
    get hasEnded() {
      return hasEnded;
    },
    get connections() {
      return connections;
    },
    get lags() {
      return lags;
    },
    close() {
      isOver = true;
      clearTimeout(timer);
      socket?.destroy();
    },
  };
}
