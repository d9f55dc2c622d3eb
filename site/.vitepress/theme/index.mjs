import { useData, withBase } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { dataSymbol } from 'vitepress/dist/client/app/data.js';
import { computed, defineComponent, h, nextTick, onBeforeUnmount, onMounted, provide, ref, watch } from 'vue';
import './style.css';

/** The element of the playground, which is loaded only on its page. */
const Playground = defineComponent({
  setup() {
    const root = ref(null);
    let close = null;
    onMounted(async () => {
      if (import.meta.env.SSR) return;
      const { openPlayground } = await import('../../playground/playground.tsx');
      if (root.value !== null) close = openPlayground(root.value);
      await navigator.serviceWorker?.register(withBase('/service-worker.js'));
    });
    onBeforeUnmount(() => close?.());
    return () => h('div', { class: 'playground', ref: root });
  },
});

/** The theme marks the main content only on pages with a side bar or an outline. */
function markMain() {
  const { page } = useData();
  const mark = () => {
    const content = document.querySelector('#VPContent');
    if (content?.querySelector('main') === null) content.setAttribute('role', 'main');
    else content?.removeAttribute('role');
  };
  onMounted(mark);
  watch(page, () => void nextTick(mark));
}

/** Only some pages are in Chinese: the switch leads to the same page if it exists, otherwise to the front page. */
const Layout = defineComponent({
  setup(_, { slots }) {
    const data = useData();
    const { page, localeIndex, theme } = data;
    const hasOther = computed(() => localeIndex.value !== 'root' || page.value.isTranslated === true);
    provide(dataSymbol, { ...data, theme: computed(() => ({ ...theme.value, i18nRouting: hasOther.value })) });
    return () => h(DefaultTheme.Layout, null, slots);
  },
});

export default {
  extends: DefaultTheme,
  Layout,
  setup: markMain,
  enhanceApp({ app }) {
    app.component('Playground', Playground);
  },
};
