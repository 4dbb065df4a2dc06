// The API reference is dark where the rest of the site is: VitePress and TypeDoc keep the choice under different names.
{
  const chosen = localStorage.getItem("vitepress-theme-appearance");
  const theme = chosen === "dark" || chosen === "light" ? chosen : "os";
  localStorage.setItem("tsd-theme", theme);
  document.documentElement.dataset.theme = theme;
}
