import { mkdir, opendir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { getErrorMessage } from '../base/index.js';
import { isPresent, openForReading, openNew, readSmallFile, readSpan, replaceFile } from '../files/index.js';
import type { OpenFile } from '../base/index.js';
import type { StandardSchema } from '../json/index.js';
import { fromJsonSchema } from '../json-schema/index.js';
import { assessmentSchema, suiteCaseSchema } from './case-record.js';
import type { Assessment, SuiteCase } from './case-record.js';
import { SuiteError } from './suite-error.js';

/** The files of a case besides the recorded bytes. */
export const CASE_FILES = {
  about: 'case.json',
  schema: 'schema.json',
  expected: 'expected.json',
  /** The answer, for a case that is a text. */
  answer: 'answer.txt',
  /** The folder of the recorded attempts. */
  run: 'run',
} as const;

/** A file of a case, by its path in the case's folder. */
export interface CaseFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** A case that was read: its folder, description, schema and expectations. */
export interface OpenCase {
  readonly name: string;
  readonly folder: string;
  readonly about: SuiteCase;
  readonly schema: Readonly<Record<string, unknown>> | undefined;
  readonly expected: Assessment;
}

/** The maximum size of a case, because cases are committed to a repository. */
export const CASE_BYTES = 16 * 1024 * 1024;

/** Maximum number of cases in a suite. */
const MAX_CASES = 10_000;

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** Throws unless the name is a valid folder name on all systems. */
function checkCaseName(name: string): void {
  if (NAME.test(name)) return;
  const message = `Invalid case name ${JSON.stringify(name.slice(0, 120))}. Use letters, digits, dots, underscores and dashes.`;
  throw new SuiteError('CASE_INVALID', message);
}

/**
 * Writes a new case: all of its files, or nothing.
 *
 * @example
 * await writeCase('sluice-suite', 'acme_shop_12', files)
 */
export async function writeCase(suite: string, name: string, files: readonly CaseFile[]): Promise<string> {
  checkCaseName(name);
  const folder = join(suite, name);
  if (await isPresent(folder)) {
    const message = `The case "${name}" already exists in "${suite}" and was not changed. Give another --name, or accept its new reading with sluice suite accept.`;
    throw new SuiteError('CASE_EXISTS', message);
  }
  const part = join(suite, `.${name}.${process.pid}.part`);
  try {
    for (const { path, bytes } of files) {
      const target = join(part, path);
      await mkdir(dirname(target), { recursive: true });
      const handle = await openNew(target);
      try {
        await handle.writeFile(bytes);
      } finally {
        await handle.close();
      }
    }
    await rename(part, folder);
  } finally {
    await rm(part, { recursive: true, force: true });
  }
  return folder;
}

/** The bytes of a regular file; undefined if it is missing. Links are not followed: a repository may hold any. */
export async function readWholeFile(
  path: string,
  maxBytes: number,
  openFile: OpenFile = async () => openForReading(path),
): Promise<Uint8Array | undefined> {
  const handle = await openFile();
  if (handle === undefined) return undefined;
  try {
    const { size } = await handle.stat();
    if (size > maxBytes) {
      throw new SuiteError('CASE_TOO_LARGE', `"${path}" is larger than ${maxBytes} bytes. Add a smaller run.`);
    }
    return await readSpan(handle, 0, size);
  } finally {
    await handle.close();
  }
}

/** Replaces what is expected of a case. */
export async function writeExpected({ folder }: Pick<OpenCase, 'folder'>, expected: Assessment): Promise<void> {
  await replaceFile(join(folder, CASE_FILES.expected), formatJson(expected));
}

/** JSON as people read and compare it. */
export function formatJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** The names of all cases, sorted; empty if there is no suite. */
export async function listCases(suite: string): Promise<readonly string[]> {
  const names: string[] = [];
  const folder = await opendir(suite).catch(() => undefined);
  if (folder === undefined) return names;
  for await (const entry of folder) {
    if (!entry.isDirectory() || !NAME.test(entry.name)) continue;
    if (names.length === MAX_CASES) {
      throw new SuiteError('CASE_TOO_LARGE', `"${suite}" has more than ${MAX_CASES} cases. Split it into several.`);
    }
    names.push(entry.name);
  }
  return names.toSorted();
}

const checkAbout = fromJsonSchema<SuiteCase>(suiteCaseSchema);
const checkExpected = fromJsonSchema<Assessment>(assessmentSchema);

/** Opens a case; throws `CASE_NOT_FOUND`, or `CASE_INVALID` if one of its files cannot be read. */
export async function openCase(suite: string, name: string): Promise<OpenCase> {
  checkCaseName(name);
  const folder = join(suite, name);
  const about = await readJson(folder, CASE_FILES.about);
  if (about === undefined) {
    throw new SuiteError(
      'CASE_NOT_FOUND',
      `Case "${name}" not found in "${suite}". List all cases with: sluice suite list`,
    );
  }
  const schema = await readJson(folder, CASE_FILES.schema);
  if (schema !== undefined && !isObject(schema)) {
    throw new SuiteError('CASE_INVALID', `"${join(folder, CASE_FILES.schema)}" is not a JSON Schema. Restore it.`);
  }
  return {
    name,
    folder,
    about: check(checkAbout, about, join(folder, CASE_FILES.about)),
    schema,
    expected: check(checkExpected, await readJson(folder, CASE_FILES.expected), join(folder, CASE_FILES.expected)),
  };
}

async function readJson(folder: string, file: string): Promise<unknown> {
  const path = join(folder, file);
  const text = (await isPresent(folder)) ? await readSmallFile(path, CASE_BYTES) : undefined;
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const message = `"${path}" is not valid JSON: ${getErrorMessage(error)}. Restore it.`;
    throw new SuiteError('CASE_INVALID', message, { cause: error });
  }
}

function check<T>(schema: StandardSchema<unknown, T>, value: unknown, path: string): T {
  const checked = schema['~standard'].validate(value);
  if (checked instanceof Promise) throw new TypeError('JSON Schema validation must be synchronous.');
  if (checked.issues === undefined) return checked.value;
  const [issue] = checked.issues;
  const place = (issue?.path ?? []).map(String).join('.');
  const what =
    value === undefined ? 'is missing' : `is invalid: ${place === '' ? '' : `${place}: `}${issue?.message ?? ''}`;
  throw new SuiteError('CASE_INVALID', `"${path}" ${what}. Restore it, or add the case again.`);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
