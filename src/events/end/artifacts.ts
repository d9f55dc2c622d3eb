import type { FileTouches, Touch } from '../attempt/tool-calls.js';
import type { EventWriter } from '../mapping/event-writer.js';
import { name, object } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';

const pathList = { type: 'array', items: name } as const;

/** Changes in the working folder during an attempt. Paths are relative to it and use forward slashes. */
export const fsDiffSchema = object({ created: pathList, modified: pathList, deleted: pathList });

/** The files that an attempt created, changed and deleted. */
export type FsDiff = FromSchema<typeof fsDiffSchema>;

const CHANGES = ['created', 'modified', 'deleted'] as const;

/** Reports which files the attempt changed, and which tool call did it. Sluice's own files are not artifacts. */
export function writeArtifacts(writer: EventWriter, touches: FileTouches, fsDiff: FsDiff): void {
  const changes = CHANGES.flatMap((change) => fsDiff[change].map((path) => ({ change, path: normalizePath(path) })));
  const artifacts = changes.filter(({ path }) => path !== '' && !path.split('/').includes('.audit'));
  const findMaker = findMakers(touches.all, new Set(artifacts.map(({ path }) => path)));
  for (const { change, path } of artifacts) {
    const madeBy = findMaker(path, change);
    const subject = madeBy === null ? {} : { tool_call_id: madeBy.tool_call_id };
    writer.write(`artifact.${change}`, { path, made_by: madeBy }, subject);
  }
}

function normalizePath(path: string): string {
  return path.replaceAll('\\', '/').replace(/^\.\//u, '');
}

/** The tool call that created or changed a file. */
interface MadeBy {
  readonly tool_call_id: string;
  readonly name: string;
}

/** Longer paths are not compared, because every suffix of a path is looked up. */
const MAX_TARGET_PATH = 1024;

/**
 * Limit on the strings searched for all files: a malicious agent could mention every part of every path in every call.
 */
const MAX_SEARCHES = 1_000_000;

/** Characters of a file name: a path counts as mentioned only if none of these directly precedes or follows it. */
const NAME_PART = /[\w.-]/u;
const WORDS = /[\w.-]+/gu;

/**
 * Finds which call changed each file. A call that names the file as its target takes precedence over one that only
 * mentions it: the first such call for a new file, the last for others. Among calls that only mention it, the first is
 * used; later calls might only read it. There can be thousands of calls and files, so an index is used instead of
 * comparing all pairs.
 */
export function findMakers(
  touches: readonly Touch[],
  paths: ReadonlySet<string>,
): (path: string, change: keyof FsDiff) => MadeBy | null {
  const targetCalls = findTargetCalls(touches, paths);
  // Created lazily: most files are the target of a call, and indexing takes longer than everything else at the end.
  let callsByWord: ReadonlyMap<string, Touch[]> | undefined;
  let searches = MAX_SEARCHES;

  function findMentioningCall(path: string): Touch | undefined {
    callsByWord ??= indexCallsByWord(touches, paths);
    for (const touch of findRarest(path, callsByWord) ?? touches) {
      searches -= 1;
      if (searches < 0) return undefined;
      if (mentions(touch.mention, path)) return touch;
    }
    return undefined;
  }

  return (path, change) => {
    const calls = targetCalls.get(path);
    const maker = (change === 'created' ? calls?.first : calls?.last) ?? findMentioningCall(path);
    return maker === undefined ? null : { tool_call_id: maker.toolCallId, name: maker.name };
  };
}

/** Finds the first and the last call that name a file as their target, by full path or by path suffix. */
function findTargetCalls(
  touches: readonly Touch[],
  paths: ReadonlySet<string>,
): ReadonlyMap<string, { readonly first: Touch; readonly last: Touch }> {
  const calls = new Map<string, { readonly first: Touch; readonly last: Touch }>();
  for (const touch of touches) {
    for (const target of touch.paths) {
      if (target.length > MAX_TARGET_PATH) continue;
      for (let start = 0, slash = 0; slash >= 0; start = slash + 1) {
        const path = target.slice(start);
        if (paths.has(path)) calls.set(path, { first: calls.get(path)?.first ?? touch, last: touch });
        slash = target.indexOf('/', start);
      }
    }
  }
  return calls;
}

/** Maps each word in the paths to the calls that contain it. */
function indexCallsByWord(touches: readonly Touch[], paths: ReadonlySet<string>): ReadonlyMap<string, Touch[]> {
  const callsByWord = new Map<string, Touch[]>();
  for (const path of paths) for (const word of splitWords(path)) callsByWord.set(word, []);
  for (const touch of touches) for (const word of splitWords(touch.mention)) callsByWord.get(word)?.push(touch);
  return callsByWord;
}

/**
 * Returns the calls that contain the rarest word of a path, since every mention of the path must contain it; undefined
 * if the path has no words.
 */
function findRarest(path: string, callsByWord: ReadonlyMap<string, Touch[]>): readonly Touch[] | undefined {
  let fewest: readonly Touch[] | undefined;
  for (const word of splitWords(path)) {
    const calls = callsByWord.get(word) ?? [];
    if (fewest === undefined || calls.length < fewest.length) fewest = calls;
  }
  return fewest;
}

function splitWords(text: string): ReadonlySet<string> {
  return new Set(text.match(WORDS));
}

/** Whether the string contains the path as a complete name: `a.md` is in `/w/a.md`, but not in `data.md`. */
function mentions(text: string, path: string): boolean {
  for (let at = text.indexOf(path); at >= 0; at = text.indexOf(path, at + 1)) {
    if (!NAME_PART.test(text.charAt(at - 1)) && !NAME_PART.test(text.charAt(at + path.length))) return true;
  }
  return false;
}
