import { loadTexts } from '../../app/language.js';

/** The texts of this folder, in the page's language. */
export const t = await loadTexts({
  en: async () => import('./texts.en.js'),
  'zh-CN': async () => import('./texts.zh-CN.js'),
});
