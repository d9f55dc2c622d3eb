import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path/posix';
import { parse } from '@swc/core';

/** One import of a source file. */
export interface ImportEdge {
  readonly from: string;
  /** A file of the project relative to its folder, or the name of a package or Node.js module. */
  readonly to: string;
  readonly kind: 'file' | 'package' | 'node' | 'unresolved';
  readonly typeOnly: boolean;
}

/** The source files that were read, and all their imports. */
export interface ImportGraph {
  readonly files: readonly string[];
  readonly edges: readonly ImportEdge[];
}

/** The folders with source files; missing ones are skipped. */
const FOLDERS = ['src', 'web'];

/** Reads the imports of every TypeScript file, except tests, under `<root>/src` and `<root>/web`. */
export async function readImportGraph(root: string): Promise<ImportGraph> {
  const files = await listSources(root);
  const edges: ImportEdge[] = [];
  for (const from of files) {
    const imports = await readImports(`${root}/${from}`);
    for (const [specifier, typeOnly] of imports) edges.push({ from, ...resolve(root, from, specifier), typeOnly });
  }
  return { files, edges };
}

async function listSources(root: string): Promise<string[]> {
  const imports: string[] = [];
  for (const folder of FOLDERS.filter((name) => existsSync(`${root}/${name}`))) {
    for (const name of await readdir(`${root}/${folder}`, { recursive: true })) {
      const file = `${folder}/${name.replaceAll('\\', '/')}`;
      const isSource = /\.tsx?$/.test(file) && !/\.(?:test|contract|config)\.ts$|\/fixtures\//.test(file);
      if (isSource) imports.push(file);
    }
  }
  return imports.toSorted();
}

/**
 * Resolves an import. Imports name the built file, `./foo.js`; anything after `?` is an instruction for
 * the bundler.
 */
function resolve(root: string, from: string, specifier: string): Pick<ImportEdge, 'to' | 'kind'> {
  if (isBuiltin(specifier)) return { to: specifier, kind: 'node' };
  if (!specifier.startsWith('.')) return { to: specifier, kind: 'package' };
  const target = join(dirname(from), specifier.replace(/\?.*$/, ''));
  const candidates = [target.replace(/\.js$/, '.ts'), target.replace(/\.js$/, '.tsx'), target];
  const file = candidates.find((name) => existsSync(`${root}/${name}`));
  return file === undefined ? { to: specifier, kind: 'unresolved' } : { to: file, kind: 'file' };
}

/**
 * Reads a file's imports, including `export … from`, `import(…)` and `import('…').Type`, and whether each imports only
 * types.
 */
async function readImports(file: string): Promise<ReadonlyMap<string, boolean>> {
  const imports = new Map<string, boolean>();
  const add = (specifier: unknown, typeOnly: boolean): void => {
    if (typeof specifier === 'string') imports.set(specifier, typeOnly && imports.get(specifier) !== false);
  };
  const tsx = file.endsWith('.tsx');
  const pending: unknown[] = [
    await parse(await readFile(file, 'utf8'), { syntax: 'typescript', tsx, target: 'es2022' }),
  ];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (typeof node !== 'object' || node === null) continue;
    if (isImport(node)) add(node.source?.value, node.typeOnly === true);
    if (isDynamicImport(node)) add(node.arguments[0]?.expression.value, false);
    if (isTypeImport(node)) add(node.argument.value, true);
    // Undefined would end the loop.
    pending.push(...Object.values(node).map((part: unknown) => part ?? null));
  }
  return imports;
}

interface Literal {
  readonly value?: unknown;
}

function isImport(node: object): node is { readonly source?: Literal | null; readonly typeOnly?: boolean } {
  return /^(?:ImportDeclaration|ExportNamedDeclaration|ExportAllDeclaration)$/.test(getNodeType(node));
}

function isDynamicImport(node: object): node is { readonly arguments: readonly { readonly expression: Literal }[] } {
  return getNodeType(node) === 'CallExpression' && 'callee' in node && getNodeType(node.callee) === 'Import';
}

function isTypeImport(node: object): node is { readonly argument: Literal } {
  return getNodeType(node) === 'TsImportType';
}

function getNodeType(node: unknown): string {
  return typeof node === 'object' && node !== null && 'type' in node ? String(node.type) : '';
}
