import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installTools } from '../../scripts/install-tools.js';
import { PROJECT } from '../../scripts/run-tool.js';

/** The path of the browser, and the environment variables it needs. */
export interface Chromium {
  readonly executablePath: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The fonts of a page. */
export interface Fonts {
  /** Adds the host's fonts, for pages in Chinese; without them pages look the same on every host. */
  readonly withSystemFonts?: boolean;
}

const CACHE = join(PROJECT, 'node_modules/.cache/sluice');

/**
 * Unpacks the npm package's browser once per version into a separate folder; the package itself would use a folder
 * shared with other applications.
 */
export async function unpackChromium({ withSystemFonts = false }: Fonts): Promise<Chromium> {
  const modules = await installTools('tools/browser');
  const folder = join(CACHE, `chromium-${await readPackageVersion(modules)}`);
  if (!existsSync(folder)) await unpack(folder, modules);
  const fonts = join(folder, withSystemFonts ? 'fonts-and-system.conf' : 'fonts.conf');
  await writeFile(fonts, renderFontSettings(folder, withSystemFonts));
  return {
    executablePath: join(folder, 'chromium'),
    // Its own libraries and fonts, so the host's have no effect.
    env: { LD_LIBRARY_PATH: join(folder, 'al2023/lib'), FONTCONFIG_FILE: fonts, HOME: folder },
  };
}

/** Unpacks into another folder and renames it, so two processes can do it concurrently. */
async function unpack(folder: string, modules: string): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  const draft = await mkdtemp(join(CACHE, 'unpacking-'));
  // The package unpacks into the temporary folder of its process, and its libraries only on systems where it expects to
  // need them.
  const env = { ...process.env, TMPDIR: draft, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x' };
  const program = "import('@sparticuz/chromium').then(async (package_) => package_.default.executablePath())";
  await promisify(execFile)(process.execPath, ['-e', program], { cwd: modules, env });
  try {
    await rename(draft, folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}

async function readPackageVersion(modules: string): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(join(modules, '@sparticuz/chromium/package.json'), 'utf8'));
  return (manifest as { readonly version: string }).version;
}

/** Without a configuration, every font family is the first font that is found. */
function renderFontSettings(folder: string, withSystemFonts: boolean): string {
  const folders = [join(folder, 'fonts'), ...(withSystemFonts ? ['/usr/share/fonts'] : [])];
  return [
    '<?xml version="1.0"?>',
    '<!DOCTYPE fontconfig SYSTEM "fonts.dtd">',
    '<fontconfig>',
    ...folders.map((dir) => `  <dir>${dir}</dir>`),
    ...(withSystemFonts ? [renderAlias('sans-serif', 'Open Sans'), renderAlias('monospace', 'DejaVu Sans Mono')] : []),
    `  <cachedir>${join(folder, 'fonts-cache')}</cachedir>`,
    '</fontconfig>',
    '',
  ].join('\n');
}

function renderAlias(family: string, font: string): string {
  return `  <alias binding="strong"><family>${family}</family><prefer><family>${font}</family></prefer></alias>`;
}
