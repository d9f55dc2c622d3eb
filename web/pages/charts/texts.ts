import { loadPageTexts } from '../../app/texts.js';

export const t = await loadPageTexts({
  en: async () => import('./texts.en.js'),
  'zh-CN': async () => import('./texts.zh-CN.js'),
});
