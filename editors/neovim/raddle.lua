-- Raddle in Neovim, 0.7 and later. Copy this file to ~/.config/nvim/lua/raddle.lua, and in init.lua:
--
--     require('raddle').setup()
--     require('raddle').setup { settings = { severity = { suspected = 'hint' } } }
--
-- Settings are those of docs/editors.md. `cmd` names the server if raddle is not on the PATH, `filetypes` the buffers
-- that it gets: C and C# are checked, and stored findings of `raddle run` are shown in the others too.

local M = {}

-- The project, by the same marks as raddle itself uses.
local function root_of(path)
  local function nearest(marks)
    local dir = vim.fn.fnamemodify(path, ':p:h')
    while true do
      for _, mark in ipairs(marks) do
        if (vim.uv or vim.loop).fs_stat(dir .. '/' .. mark) then
          return dir
        end
      end
      local parent = vim.fn.fnamemodify(dir, ':h')
      if parent == dir then
        return nil
      end
      dir = parent
    end
  end
  return nearest { 'raddle.toml', '.git' }
    or nearest { 'compile_commands.json' }
    or vim.fn.fnamemodify(path, ':p:h')
end

-- One server for each project. `vim.lsp.start`, from 0.8 on, sees to that itself.
local clients = {}

local function attach(buffer, options)
  local root = root_of(vim.api.nvim_buf_get_name(buffer))
  local config = {
    name = 'raddle',
    cmd = options.cmd or { 'raddle', 'lsp' },
    root_dir = root,
    settings = { raddle = options.settings },
    init_options = { settings = options.settings },
    flags = { debounce_text_changes = 20 },
  }
  if vim.lsp.start then
    vim.lsp.start(config, { bufnr = buffer })
    return
  end
  if not clients[root] or not vim.lsp.get_client_by_id(clients[root]) then
    config.on_exit = function()
      clients[root] = nil
    end
    clients[root] = vim.lsp.start_client(config)
  end
  if clients[root] then
    vim.lsp.buf_attach_client(buffer, clients[root])
  end
end

local function clients_of(buffer)
  return vim.lsp.get_clients and vim.lsp.get_clients { bufnr = buffer } or vim.lsp.buf_get_clients(buffer)
end

function M.setup(options)
  options = options or {}
  local group = vim.api.nvim_create_augroup('raddle', { clear = true })
  vim.api.nvim_create_autocmd('FileType', {
    group = group,
    pattern = options.filetypes or { 'c', 'cpp', 'cs', 'rust' },
    callback = function(event)
      attach(event.buf, options)
    end,
  })
  -- A lens says what was checked, so it is stale when diagnostics have come.
  vim.api.nvim_create_autocmd('DiagnosticChanged', {
    group = group,
    callback = function()
      for _, client in pairs(clients_of(0)) do
        if client.name == 'raddle' then
          vim.lsp.codelens.refresh()
        end
      end
    end,
  })
end

return M
