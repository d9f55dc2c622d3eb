/**
 * Writes the declarations of each entry and of everything it imports into one file, `<name>.d.ts`, and a copy for
 * CommonJS. What the first entry exports, the others import from it, so a class is the same in all of them. API Extractor
 * has its own compiler: TypeScript 7 has no JavaScript API.
 *
 * Arguments: a JSON object with `project`, `entries`, `target` and `names`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CompilerState, Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor';

const { project, entries, target, names } = JSON.parse(process.argv[2] ?? '{}');
const SILENT = { default: { logLevel: ExtractorLogLevel.None } };

const configs = entries.map((entry, index) =>
  ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(project, 'package.json'),
    configObject: {
      projectFolder: project,
      mainEntryPointFilePath: entry,
      compiler: {
        overrideTsconfig: {
          compilerOptions: { module: 'nodenext', target: 'es2022', lib: ['es2023', 'dom'], strict: true, types: [] },
          files: entries,
        },
      },
      newlineKind: 'lf',
      dtsRollup: { enabled: true, untrimmedFilePath: join(target, `${names[index]}.d.ts`) },
      // `npm run reference` checks the doc comments.
      messages: { extractorMessageReporting: SILENT, tsdocMessageReporting: SILENT },
    },
  }),
);
const compilerState = CompilerState.create(configs[0], { additionalEntryPoints: entries });
for (const config of configs) {
  const { succeeded } = Extractor.invoke(config, {
    compilerState,
    localBuild: true,
    messageCallback: (message) => {
      message.handled = message.logLevel !== ExtractorLogLevel.Error;
    },
  });
  if (!succeeded) throw new Error(`Cannot roll up the types of ${config.mainEntryPointFilePath}.`);
}

const [shared, ...others] = names.map((name) => ({ name, text: readFileSync(join(target, `${name}.d.ts`), 'utf8') }));
for (const { name, text } of [shared, ...others.map(importShared)]) {
  for (const [types, code] of [
    ['d.ts', 'js'],
    ['d.cts', 'cjs'],
  ])
    writeFileSync(
      join(target, `${name}.${types}`),
      text.replaceAll(`'./${shared.name}.js'`, `'./${shared.name}.${code}'`),
    );
}

/** Replaces declarations that the first entry exports with an import, and removes what nothing uses any more. */
function importShared({ name, text }) {
  const known = new Map(splitDeclarations(shared.text).map((each) => [each.name, each]));
  let kept = splitDeclarations(text);
  const imported = [];
  for (const each of kept.filter((one) => !one.isExported && known.get(one.name)?.isExported === true)) {
    if (known.get(each.name).body !== each.body) throw new Error(`${each.name} differs in ${name} and ${shared.name}.`);
    imported.push(each.name);
  }
  kept = kept.filter((each) => !imported.includes(each.name));
  const isUsed = (used) => kept.some((each) => each.name !== used && new RegExp(`\\b${used}\\b`).test(each.body));
  for (let count = 0; count !== kept.length;) {
    count = kept.length;
    kept = kept.filter((each) => each.name === undefined || each.isExported || isUsed(each.name));
  }
  const names = imported.filter(isUsed);
  const line = names.length === 0 ? '' : `import type { ${names.join(', ')} } from './${shared.name}.js';\n\n`;
  return { name, text: line + kept.map((each) => each.text).join('') };
}

/** Splits a file into its declarations, each with its comment. */
function splitDeclarations(text) {
  const start = /^(?:\/\*\*(?:(?!\*\/)[^])*\*\/\n)?(?:export )?declare |^export \{/gm;
  const starts = [...text.matchAll(start)].map(({ index }) => index);
  return starts.map((from, index) => {
    const piece = text.slice(from, starts[index + 1]);
    const declared = /^(export )?declare (?:abstract )?(?:interface|type|class|const|function) (\w+)/m.exec(piece);
    return {
      text: piece,
      name: declared?.[2],
      isExported: declared?.[1] !== undefined,
      body: declared === null ? piece : piece.slice(declared.index + (declared[1]?.length ?? 0)).trim(),
    };
  });
}
