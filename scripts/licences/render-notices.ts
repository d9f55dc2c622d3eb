import type { LockedPackage } from './read-lock.js';

/** A shipped package, with the text of its licence. */
export interface Notice extends Pick<LockedPackage, 'name' | 'version' | 'licence'> {
  readonly text: string;
}

/** Renders the page that lists every shipped package with the text of its licence. */
export function renderNotices(notices: readonly Notice[]): string {
  const rows = notices.map(({ name, version, licence }) => `| ${name} | ${version} | ${licence} |`);
  const texts = notices.map(({ name, text }) => `## ${name}\n\n\`\`\`\n${text.trim().replaceAll('\r', '')}\n\`\`\`\n`);
  return `# Third-party software

Sluice is under the licence in [LICENSE](LICENSE). These packages ship with it, as dependencies or built into the console. \`npm run licences -- --write\` generates this page.

| package | version | licence |
| --- | --- | --- |
${rows.join('\n')}

${texts.join('\n')}`;
}
