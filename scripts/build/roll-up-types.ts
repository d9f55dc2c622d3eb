import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { CompilerState, Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor';

const SILENT = { default: { logLevel: ExtractorLogLevel.None } };

/**
 * Writes the declarations of each entry and of everything it imports into one file, `<name>.d.ts`, and a copy for
 * CommonJS. API Extractor has its own compiler: TypeScript 7 has no JavaScript API.
 */
export function rollUpTypes(
  project: string,
  entries: readonly string[],
  target: string,
  names: readonly string[],
): void {
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
  const [first] = configs;
  if (first === undefined) return;
  const compilerState = CompilerState.create(first, { additionalEntryPoints: [...entries] });
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
}
