import type { FileToolCall } from '../attempt/tool-calls.js';
import type { EventWriter } from '../mapping/event-writer.js';
import type { RaspData } from '../protocol/rasp-event.js';
import { name, object, type FromSchema } from '../../base/index.js';

const pathList = { type: 'array', items: name } as const;

/** Changes in the working folder during an attempt. Paths are relative to it and use forward slashes. */
export const fsDiffSchema = object({ created: pathList, modified: pathList, deleted: pathList });

/** The files that an attempt created, changed and deleted. */
export type FsDiff = FromSchema<typeof fsDiffSchema>;

const CHANGES = ['created', 'modified', 'deleted'] as const;

/** Reports which files the attempt changed, and which tool call did it. Sluice's own files are not artifacts. */
export function writeArtifacts(writer: EventWriter, fileCalls: readonly FileToolCall[], fsDiff: FsDiff): void {
  const changes = CHANGES.flatMap((change) => fsDiff[change].map((path) => ({ change, path: normalizePath(path) })));
  const artifacts = changes.filter(({ path }) => path !== '' && !path.split('/').includes('.audit'));
  const findCall = createCallFinder(fileCalls, new Set(artifacts.map(({ path }) => path)));
  for (const { change, path } of artifacts) {
    const madeBy = findCall(path, change);
    const subject = madeBy === null ? {} : { tool_call_id: madeBy.tool_call_id };
    writer.write(`artifact.${change}`, { path, made_by: madeBy }, subject);
  }
}

function normalizePath(path: string): string {
  return path.replaceAll('\\', '/').replace(/^\.\//u, '');
}

/** Longer paths are not compared, because every suffix of a path is looked up. */
const MAX_TARGET_PATH = 1024;

/** Limit on the strings searched: an agent could mention every part of every path in every call. */
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
export function createCallFinder(
  fileCalls: readonly FileToolCall[],
  paths: ReadonlySet<string>,
): (path: string, change: keyof FsDiff) => RaspData<'artifact.created'>['made_by'] {
  const targetCalls = findTargetCalls(fileCalls, paths);
  // Created lazily: most files are the target of a call, and indexing takes longer than everything else at the end.
  let callsByWord: ReadonlyMap<string, FileToolCall[]> | undefined;
  let searches = MAX_SEARCHES;

  function findMentioningCall(path: string): FileToolCall | undefined {
    callsByWord ??= indexCallsByWord(fileCalls, paths);
    for (const call of findCallsByRarestWord(path, callsByWord) ?? fileCalls) {
      searches -= 1;
      if (searches < 0) return undefined;
      if (containsPath(call.searchableText, path)) return call;
    }
    return undefined;
  }

  return (path, change) => {
    const calls = targetCalls.get(path);
    const call = (change === 'created' ? calls?.first : calls?.last) ?? findMentioningCall(path);
    return call === undefined ? null : { tool_call_id: call.toolCallId, name: call.name };
  };
}

/** Finds the first and the last call that name a file as their target, by full path or by path suffix. */
function findTargetCalls(fileCalls: readonly FileToolCall[], paths: ReadonlySet<string>) {
  const calls = new Map<string, { readonly first: FileToolCall; readonly last: FileToolCall }>();
  for (const call of fileCalls) {
    for (const target of call.paths) {
      if (target.length > MAX_TARGET_PATH) continue;
      for (let start = 0, slash = 0; slash >= 0; start = slash + 1) {
        const path = target.slice(start);
        if (paths.has(path)) calls.set(path, { first: calls.get(path)?.first ?? call, last: call });
        slash = target.indexOf('/', start);
      }
    }
  }
  return calls;
}

function indexCallsByWord(
  fileCalls: readonly FileToolCall[],
  paths: ReadonlySet<string>,
): ReadonlyMap<string, FileToolCall[]> {
  const callsByWord = new Map<string, FileToolCall[]>();
  for (const path of paths) for (const word of splitWords(path)) callsByWord.set(word, []);
  for (const call of fileCalls) for (const word of splitWords(call.searchableText)) callsByWord.get(word)?.push(call);
  return callsByWord;
}

/** Returns the calls that contain the rarest word of a path; undefined if the path has no words. */
function findCallsByRarestWord(
  path: string,
  callsByWord: ReadonlyMap<string, FileToolCall[]>,
): readonly FileToolCall[] | undefined {
  let rarest: readonly FileToolCall[] | undefined;
  for (const word of splitWords(path)) {
    const calls = callsByWord.get(word) ?? [];
    if (rarest === undefined || calls.length < rarest.length) rarest = calls;
  }
  return rarest;
}

function splitWords(text: string): ReadonlySet<string> {
  return new Set(text.match(WORDS));
}

/** Whether the string contains the path as a complete name: `a.md` is in `/w/a.md`, but not in `data.md`. */
function containsPath(text: string, path: string): boolean {
  for (let at = text.indexOf(path); at >= 0; at = text.indexOf(path, at + 1)) {
    if (!NAME_PART.test(text.charAt(at - 1)) && !NAME_PART.test(text.charAt(at + path.length))) return true;
  }
  return false;
}
