import { loadTexts } from './language.js';

/** The texts of this folder, of `data` and of `ui`, in the page's language. */
export const t = await loadTexts(
  async () => import('./texts.en.js'),
  async () => import('./texts.zh-CN.js'),
);

/** Loads the texts of a page's folder in the page's language, and adds those that folders share. */
export async function loadPageTexts<Texts>(
  ...catalogues: Parameters<typeof loadTexts<Texts>>
): Promise<Omit<typeof t, keyof Texts> & Texts> {
  return { ...t, ...(await loadTexts(...catalogues)) };
}
