import { readStored, writeStored } from './storage.js';

export type Language = 'en' | 'zh-CN';

const KEY = 'sluice.language';

/** Chooses the first language that the console has, or else English. */
export function chooseLanguage(preferred: readonly (string | null)[]): Language {
  const found = preferred.find((name) => /^(?:en|zh)\b/i.test(name ?? '')) ?? 'en';
  return found.toLowerCase().startsWith('zh') ? 'zh-CN' : 'en';
}

/** The language of this page: the one chosen here, or the browser's. */
export const language = chooseLanguage([
  readStored(KEY),
  ...(typeof document === 'undefined' ? [] : navigator.languages),
]);

/** Switches to the other language. The page is loaded again, because its code reads the texts when it is loaded. */
export function switchLanguage(): void {
  writeStored(KEY, language === 'en' ? 'zh-CN' : 'en');
  location.reload();
}

type LoadCatalogue<Texts> = () => Promise<{ readonly t: Texts }>;

/** Loads the texts in one language. A catalogue imports nothing: the code that waits for it might be in the same chunk. */
export async function loadTexts<Texts>(english: LoadCatalogue<Texts>, chinese: LoadCatalogue<Texts>): Promise<Texts> {
  return (await (language === 'en' ? english : chinese)()).t;
}
