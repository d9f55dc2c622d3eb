import type { LockedPackage } from './read-lock.js';

/** A package that is distributed, with the text of its licence. */
export interface Notice extends Pick<LockedPackage, 'name' | 'version' | 'licence'> {
  readonly text: string;
}

/** The page that names every package that users get, each with its licence in full. */
export function renderNotices(notices: readonly Notice[]): string {
  const rows = notices.map(({ name, version, licence }) => `| ${name} | ${version} | ${licence} |`);
  const texts = notices.map(({ name, text }) => `## ${name}\n\n\`\`\`\n${text.trim().replaceAll('\r', '')}\n\`\`\`\n`);
  return `# Third-party software

Sluice is under the licence in [LICENSE](LICENSE). These packages come with it: as dependencies, or built into the console. \`npm run licences -- --write\` makes this page.

| package | version | licence |
| --- | --- | --- |
${rows.join('\n')}

${texts.join('\n')}`;
}
