import { useData, withBase } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { defineComponent, h, nextTick, onBeforeUnmount, onMounted, ref, watch } from 'vue';
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

export default {
  extends: DefaultTheme,
  setup: markMain,
  enhanceApp({ app }) {
    app.component('Playground', Playground);
  },
};
