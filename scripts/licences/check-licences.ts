import type { LockedPackage } from './read-lock.js';

/** Licences allowed for shipped packages: they require no more than a notice. */
const SHIPPED = ['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'CC0-1.0', 'ISC', 'MIT'];
/** Licences allowed for development packages: also licences that bind only redistributors of the package itself. */
const DEVELOPMENT = [...SHIPPED, 'MPL-2.0', 'Unlicense', 'CC-BY-4.0', 'Python-2.0', 'PSF-2.0'];

/**
 * Test packages (of `s3rver`) whose licence is not in the field npm reads, but in their readme or in an older field:
 * MIT, verified for exactly these versions.
 */
const VERIFIED_MANUALLY: ReadonlySet<string> = new Set([
  'busboy@0.3.1',
  'dicer@0.3.0',
  'humanize-number@0.0.2',
  'only@0.0.2',
  'streamsearch@0.1.2',
]);

/** Lists every package whose licence is not allowed for its use, as a message. */
export function checkLicences(packages: readonly LockedPackage[]): string[] {
  return packages.flatMap(({ name, version, licence, isShipped }) => {
    if (!isShipped && licence === '' && VERIFIED_MANUALLY.has(`${name}@${version}`)) return [];
    if (licence === '') return [`${name}@${version} declares no licence`];
    if (isAllowed(licence, isShipped ? SHIPPED : DEVELOPMENT)) return [];
    return [
      `${name}@${version} is under ${licence}, which is not on the list for ${isShipped ? 'users' : 'development'}`,
    ];
  });
}

/**
 * Checks an SPDX expression: `A OR B` is allowed if one of them is, `A AND B` if both are; `AND` binds more tightly.
 * Parentheses are evaluated from the inside out.
 */
export function isAllowed(expression: string, allowed: readonly string[]): boolean {
  const inner = /\(([^()]*)\)/.exec(expression);
  if (inner !== null) {
    const verdict = isAllowed(inner[1] ?? '', allowed) ? (allowed[0] ?? '') : 'refused';
    return isAllowed(expression.replace(inner[0], verdict), allowed);
  }
  return expression.split(' OR ').some((part) => part.split(' AND ').every((name) => allowed.includes(name.trim())));
}
