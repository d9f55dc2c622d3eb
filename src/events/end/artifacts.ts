import type { FileTouches, Touch } from '../attempt/tool-calls.js';
import type { EventWriter } from '../mapping/event-writer.js';
import { name, object } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';

const pathList = { type: 'array', items: name } as const;

/** Changes in the working folder during an attempt: paths relative to it, with forward slashes. */
export const fsDiffSchema = object({ created: pathList, modified: pathList, deleted: pathList });

/** The files that an attempt created, changed and deleted. */
export type FsDiff = FromSchema<typeof fsDiffSchema>;

const CHANGES = ['created', 'modified', 'deleted'] as const;

/** Finds which files the attempt changed, and which tool call did it. Sluice's own files are no artifacts. */
export function writeArtifacts(writer: EventWriter, touches: FileTouches, fsDiff: FsDiff): void {
  const changes = CHANGES.flatMap((change) => fsDiff[change].map((path) => ({ change, path: plain(path) })));
  const artifacts = changes.filter(({ path }) => path !== '' && !path.split('/').includes('.audit'));
  const findMaker = findMakers(touches.all, new Set(artifacts.map(({ path }) => path)));
  for (const { change, path } of artifacts) {
    const madeBy = findMaker(path, change);
    const subject = madeBy === null ? {} : { tool_call_id: madeBy.tool_call_id };
    writer.write(`artifact.${change}`, { path, made_by: madeBy }, subject);
  }
}

function plain(path: string): string {
  return path.replaceAll('\\', '/').replace(/^\.\//u, '');
}

/** The creator of a file. */
interface MadeBy {
  readonly tool_call_id: string;
  readonly name: string;
}

/** Longer paths are not compared: every suffix of a path is looked up. */
const MAX_OWN_PATH = 1024;

/** Texts searched for all files together: a hostile agent could mention every part of every path in every call. */
const MAX_SEARCHES = 1_000_000;

/** Characters of a name: a path counts as mentioned if none of these surrounds it. */
const NAME_PART = /[\w.-]/u;
const WORDS = /[\w.-]+/gu;

/**
 * Finds which call changed each of these files. A call that names the file as its target takes precedence over one that only
 * mentions it: the first such call for a new file, the last for others. Of the calls that mention it the first counts; later ones
 * may only read it. There may be thousands of calls and files, so an index is used instead of comparing all pairs.
 */
export function findMakers(
  touches: readonly Touch[],
  paths: ReadonlySet<string>,
): (path: string, change: keyof FsDiff) => MadeBy | null {
  const owners = findOwners(touches, paths);
  const speakers = findSpeakers(touches, paths);
  let searches = MAX_SEARCHES;

  function findMention(path: string): Touch | undefined {
    for (const touch of findRarest(path, speakers) ?? touches) {
      searches -= 1;
      if (searches < 0) return undefined;
      if (mentions(touch.mention, path)) return touch;
    }
    return undefined;
  }

  return (path, change) => {
    const own = owners.get(path);
    const maker = (change === 'created' ? own?.first : own?.last) ?? findMention(path);
    return maker === undefined ? null : { tool_call_id: maker.toolCallId, name: maker.name };
  };
}

/** The first and the last call that name a file as their target, by the whole path or by its end. */
function findOwners(
  touches: readonly Touch[],
  paths: ReadonlySet<string>,
): ReadonlyMap<string, { readonly first: Touch; readonly last: Touch }> {
  const owners = new Map<string, { readonly first: Touch; readonly last: Touch }>();
  for (const touch of touches) {
    for (const own of touch.paths) {
      if (own.length > MAX_OWN_PATH) continue;
      for (let start = 0, slash = 0; slash >= 0; start = slash + 1) {
        const path = own.slice(start);
        if (paths.has(path)) owners.set(path, { first: owners.get(path)?.first ?? touch, last: touch });
        slash = own.indexOf('/', start);
      }
    }
  }
  return owners;
}

/** The calls that contain each word of the paths. */
function findSpeakers(touches: readonly Touch[], paths: ReadonlySet<string>): ReadonlyMap<string, Touch[]> {
  const speakers = new Map<string, Touch[]>();
  for (const path of paths) for (const word of splitWords(path)) speakers.set(word, []);
  for (const touch of touches) for (const word of splitWords(touch.mention)) speakers.get(word)?.push(touch);
  return speakers;
}

/** The calls that contain the rarest word of a path, which every mention of the path must contain; undefined if it has no words. */
function findRarest(path: string, speakers: ReadonlyMap<string, Touch[]>): readonly Touch[] | undefined {
  let fewest: readonly Touch[] | undefined;
  for (const word of splitWords(path)) {
    const calls = speakers.get(word) ?? [];
    if (fewest === undefined || calls.length < fewest.length) fewest = calls;
  }
  return fewest;
}

function splitWords(text: string): ReadonlySet<string> {
  return new Set(text.match(WORDS));
}

/** The path stands in the text as a whole: `a.md` is not in `data.md`, but in `/w/a.md`. */
function mentions(text: string, path: string): boolean {
  for (let at = text.indexOf(path); at >= 0; at = text.indexOf(path, at + 1)) {
    if (!NAME_PART.test(text.charAt(at - 1)) && !NAME_PART.test(text.charAt(at + path.length))) return true;
  }
  return false;
}
