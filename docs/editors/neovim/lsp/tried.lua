-- tried for Neovim 0.11 and later: copy to ~/.config/nvim/lsp/tried.lua and add vim.lsp.enable('tried') to your init.lua
return {
  cmd = { 'tried', 'serve' },
  filetypes = { 'yaml', 'json', 'jsonc', 'toml', 'python', 'sh', 'env', 'dotenv' },
  root_markers = { 'tried.toml', '.tried', '.soma', 'results.tsv', '.git' },
  -- Your own settings, in the words of docs/settings.md, for instance:
  -- settings = { tried = { editor = { debounce_ms = 300 }, findings = { severity = { near = 'hover' } } } },
  settings = { tried = {} },
}
