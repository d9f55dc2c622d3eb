/**
 * Writes the declarations of each entry and of everything it imports into one file, `<name>.d.ts`, and a copy for
 * CommonJS. API Extractor has its own compiler: TypeScript 7 has no JavaScript API.
 *
 * Arguments: a JSON object with `project`, `entries`, `target` and `names`.
 */
import { copyFileSync } from 'node:fs';
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
  copyFileSync(config.untrimmedFilePath, config.untrimmedFilePath.replace(/ts$/, 'cts'));
}
