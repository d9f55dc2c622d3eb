import { draftFromText } from './draft-result.js';
import { findAnchors } from './find-anchors.js';
import type { Reading } from '../../records/index.js';

/** How much of a stream is looked at, from its end: a result is what comes last. */
export const STREAM_BYTES = 256 * 1024;

interface Streams {
  readonly stdout?: string | Uint8Array;
  readonly stderr?: string | Uint8Array;
}

/** What a worker only printed: anchors, and a draft for a person. Never a result. */
export function readStreams({ stdout = '', stderr = '' }: Streams): Reading {
  const printed = { stdout: endOf(stdout), stderr: endOf(stderr) };
  const anchors = { ...findAnchors(printed.stderr), ...findAnchors(printed.stdout) };
  const draft = draftFromText(printed.stdout) ?? draftFromText(printed.stderr);
  if (Object.keys(anchors).length === 0) {
    const message = 'the worker left no work_result.json and no work_result.txt';
    return {
      source: 'none',
      problems: [{ code: 'RESULT_MISSING', message }],
      ...(draft === undefined ? {} : { draft }),
    };
  }
  const message = 'the worker left no result file; what it printed is not a result';
  return {
    source: 'streams',
    path: Object.keys(findAnchors(printed.stdout)).length > 0 ? 'stdout' : 'stderr',
    anchors,
    problems: [{ code: 'ONLY_ANCHORS', message }],
    draft: { ...anchors, ...draft },
  };
}

function endOf(stream: string | Uint8Array): string {
  return typeof stream === 'string'
    ? stream.slice(-STREAM_BYTES)
    : new TextDecoder().decode(stream.subarray(Math.max(stream.length - STREAM_BYTES, 0)));
}
