import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from '@swc/core';
import { z } from 'zod';
import { PROJECT, runTool } from '../run-tool.js';

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

const Dependency = z.object({
  module: z.string(),
  resolved: z.string(),
  coreModule: z.boolean(),
  couldNotResolve: z.boolean(),
});

const CruiseResult = z.object({
  modules: z.array(z.object({ source: z.string(), dependencies: z.array(Dependency) })),
});

/** Reads the imports of the TypeScript files (tests aside) under `<root>/src`. */
export async function readImportGraph(root: string): Promise<ImportGraph> {
  const files: string[] = [];
  const edges: ImportEdge[] = [];
  for (const { source, dependencies } of (await cruise(root)).modules) {
    if (!source.startsWith('src/')) continue;
    files.push(source);
    const typeOnly = await readTypeOnlySpecifiers(join(root, source));
    for (const dependency of dependencies) {
      const kind = kindOf(dependency);
      const to = kind === 'file' ? dependency.resolved : dependency.module;
      edges.push({ from: source, to, kind, typeOnly: typeOnly.has(dependency.module) });
    }
  }
  return { files, edges };
}

function kindOf({ resolved, coreModule, couldNotResolve }: z.infer<typeof Dependency>): ImportEdge['kind'] {
  if (coreModule) return 'node';
  if (couldNotResolve) return 'unresolved';
  return resolved.startsWith('src/') ? 'file' : 'package';
}

/** As a program of its own: inside the TypeScript loader that runs these scripts its swc visitor does not load. */
async function cruise(root: string): Promise<z.infer<typeof CruiseResult>> {
  const config = join(PROJECT, '.dependency-cruiser.json');
  const { stdout, stderr } = await runTool('depcruise', ['--config', config, '--output-type', 'json', 'src'], root);
  if (stdout === '') throw new Error(`dependency-cruiser gave no graph: ${stderr}`);
  return CruiseResult.parse(JSON.parse(stdout));
}

/** Under swc dependency-cruiser does not tell `import type` from `import`: this does. */
async function readTypeOnlySpecifiers(file: string): Promise<ReadonlySet<string>> {
  const { body } = await parse(await readFile(file, 'utf8'), { syntax: 'typescript', target: 'es2022' });
  const typed = new Set<string>();
  const valued = new Set<string>();
  for (const item of body) {
    if (item.type === 'ImportDeclaration') (item.typeOnly ? typed : valued).add(item.source.value);
    if (item.type === 'ExportNamedDeclaration' && item.source) (item.typeOnly ? typed : valued).add(item.source.value);
    if (item.type === 'ExportAllDeclaration') valued.add(item.source.value);
  }
  return new Set([...typed].filter((specifier) => !valued.has(specifier)));
}
